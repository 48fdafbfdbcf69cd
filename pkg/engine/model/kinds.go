package model

// Kinds of modelled objects that selectors and messages name.
const (
	KindSchema   = "schema"
	KindTable    = "table"
	KindEnum     = "enum"
	KindSequence = "sequence"
)

// UnmodelledKinds lists every Object.Kind that a catalog reader may report, sorted.
func UnmodelledKinds() []string {
	return []string{
		"access method", "aggregate", "base type", "cast", "clustered index", "collation", "column options", "column statistics target", "composite type",
		"constraint trigger", "conversion", "domain", "event trigger", "exclusion constraint", "extension", "foreign data wrapper", "foreign server",
		"foreign table", "function", "index option", "inheritance child", "invalid index", "language", "materialized view", "not-null constraint",
		"not-enforced constraint", "operator", "operator class", "operator family", "partition", "partitioned table", "policy", "procedure", "publication",
		"range type", "replica identity", "row security", "rule", "security label", "sequence option", "statistics", "subscription", "table access method", "table option", "tablespace",
		"temporal constraint", "text search configuration", "text search dictionary", "text search parser", "text search template",
		"transform", "trigger", "typed table", "unlogged sequence", "unlogged table", "user mapping", "view", "window function",
	}
}
