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
	// Tables that selectors may name apart.
	KindPartition        = "partition"
	KindPartitionedTable = "partitioned table"
)

// Kinds lists the modelled kinds that selectors name, beside those of definitions.
func Kinds() []string {
	return []string{KindSchema, KindTable, KindEnum, KindSequence, KindExtension, KindCollation, KindDomain, KindComposite, KindRange, KindPartition, KindPartitionedTable}
}

// UnmodelledKinds lists every Object.Kind that a catalog reader may report, sorted.
func UnmodelledKinds() []string {
	return []string{
		"access method", "aggregate", "base type", "cast", "collation",
		"constraint trigger", "conversion", "event", "event trigger", "foreign data wrapper", "foreign server",
		"foreign table", "function", "invalid index", "language", "materialized view",
		"operator", "operator class", "operator family", "package", "package body", "policy", "procedure", "publication",
		"range type", "row security", "rule", "security label", "sequence option", "statistics", "subscription", "tablespace",
		"text search configuration", "text search dictionary", "text search parser", "text search template",
		"transform", "trigger", "typed table", "user mapping", "view", "window function",
	}
}
