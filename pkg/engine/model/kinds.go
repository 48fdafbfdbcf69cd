package model

// Kinds of modelled objects that selectors and messages name.
const (
	KindSchema    = "schema"
	KindTable     = "table"
	KindEnum      = "enum"
	KindSequence  = "sequence"
	KindExtension = "extension"
	KindCollation = "collation"
	KindDomain    = "domain"
	KindComposite = "composite type"
	KindRange     = "range type"
)

// Kinds lists the modelled kinds that selectors name, beside those of definitions.
func Kinds() []string {
	return []string{KindSchema, KindTable, KindEnum, KindSequence, KindExtension, KindCollation, KindDomain, KindComposite, KindRange}
}

// UnmodelledKinds lists every Object.Kind that a catalog reader may report, sorted.
func UnmodelledKinds() []string {
	return []string{
		"access method", "aggregate", "base type", "cast", "clustered index", "collation", "column options", "column statistics target",
		"constraint trigger", "conversion", "event", "event trigger", "exclusion constraint", "foreign data wrapper", "foreign server",
		"foreign table", "function", "index option", "inheritance child", "invalid index", "language", "materialized view", "not-null constraint",
		"not-enforced constraint", "operator", "operator class", "operator family", "package", "package body", "partition", "partitioned table", "policy", "procedure", "publication",
		"range type", "replica identity", "row security", "rule", "security label", "sequence option", "statistics", "subscription", "table access method", "table option", "tablespace",
		"temporal constraint", "text search configuration", "text search dictionary", "text search parser", "text search template",
		"transform", "trigger", "typed table", "unlogged sequence", "unlogged table", "user mapping", "view", "window function",
	}
}
