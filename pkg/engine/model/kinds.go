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

// Kinds of definitions.
const (
	KindView              = "view"
	KindMaterializedView  = "materialized view"
	KindIndex             = "index" // of a materialized view; those of tables are parts of the table
	KindFunction          = "function"
	KindProcedure         = "procedure"
	KindAggregate         = "aggregate"
	KindWindowFunction    = "window function"
	KindTrigger           = "trigger"
	KindConstraintTrigger = "constraint trigger"
	KindRule              = "rule"
	KindPolicy            = "policy"
	KindRowSecurity       = "row security"
	KindForcedRowSecurity = "forced row security"
	KindStatistics        = "statistics"
	KindEventTrigger      = "event trigger"
)

// DefinitionKinds lists every kind of a Definition.
func DefinitionKinds() []string {
	return []string{
		KindView, KindMaterializedView, KindIndex, KindFunction, KindProcedure, KindAggregate, KindWindowFunction, KindTrigger, KindConstraintTrigger,
		KindRule, KindPolicy, KindRowSecurity, KindForcedRowSecurity, KindStatistics, KindEventTrigger,
	}
}

// UnmodelledKinds lists every Object.Kind that a catalog reader may report, sorted.
func UnmodelledKinds() []string {
	return []string{
		"access method", "base type", "cast", "clustered index", "collation", "column options", "column statistics target",
		"conversion", "event", "foreign data wrapper", "foreign server",
		"foreign table", "index option", "invalid index", "language",
		"operator", "operator class", "operator family", "package", "package body", "publication",
		"range type", "security label", "sequence option", "subscription", "table access method", "table option", "tablespace",
		"text search configuration", "text search dictionary", "text search parser", "text search template",
		"transform", "trigger", "typed table", "user mapping",
	}
}
