package frame

import "slices"

// codes is every Code, in the order of their declaration.
var codes = []Code{
	CodeConfigurationInvalid, CodeRegistryUnreachable, CodeRegistryUnauthorized, CodeRegistryGrantRefused, CodeArtifactNotFound,
	CodeArtifactTypeRefused, CodeArtifactTooLarge, CodeArtifactInvalid, CodePolicyInvalid, CodePolicyRefused, CodeDesiredSchemaInvalid,
	CodeUnsupportedObject, CodeCredentialMissing, CodeDatabaseURLInvalid, CodeDatabaseUnreachable, CodeDatabaseAuthentication,
	CodeDatabaseTLS, CodeDatabasePermission, CodeTargetChanged, CodeNondeterministicPlan, CodePlanTooLarge, CodeProtectedTable,
	CodeStalePlan, CodePlanDamaged, CodeLockTimeout, CodeLockUnverified, CodeStatementFailed, CodeDeadlineExceeded, CodeCancelled,
	CodeOutputInvalid, CodeInternal,
}

// Codes lists the closed vocabulary of failures.
func Codes() []Code { return slices.Clone(codes) }

// Known says whether a code belongs to the vocabulary.
func (c Code) Known() bool { return slices.Contains(codes, c) }

// severities of drift, highest first.
var severities = []string{"destructive", "error", "warning", "info", "safe"}

// categories of drift: the closed machine vocabulary of the API.
var categories = []string{
	"columns_added", "columns_modified", "columns_removed", "constraints_added", "constraints_removed",
	"data_rows_deleted", "data_rows_inserted", "data_rows_updated", "enum_values_added", "enum_values_removed",
	"enums_added", "enums_removed", "extensions_added", "extensions_modified", "extensions_removed",
	"functions_added", "functions_modified", "functions_removed", "indexes_added", "indexes_removed",
	"rls_enabled_tables_added", "rls_enabled_tables_removed", "rls_policies_added", "rls_policies_modified", "rls_policies_removed",
	"roles_added", "roles_modified", "roles_removed", "table_constraints_added", "table_constraints_removed",
	"tables_added", "tables_removed", "unique_protections_removed", "vector_dimension_changed",
}

// Categories lists the drift categories that a frame may name, sorted.
func Categories() []string { return slices.Clone(categories) }

// Severities lists the drift severities, highest first.
func Severities() []string { return slices.Clone(severities) }

// SeverityRank is 0 for the highest severity and -1 for an unknown one.
func SeverityRank(severity string) int { return slices.Index(severities, severity) }
