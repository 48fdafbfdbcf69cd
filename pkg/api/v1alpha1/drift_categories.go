package v1alpha1

// DriftCategory is a kind of difference, of a closed vocabulary; an unknown category fails the operation that reports it.
// +kubebuilder:validation:Enum=columns_added;columns_modified;columns_removed;constraints_added;constraints_removed;data_rows_deleted;data_rows_inserted;data_rows_updated;enum_values_added;enum_values_removed;enums_added;enums_removed;extensions_added;extensions_modified;extensions_removed;functions_added;functions_modified;functions_removed;indexes_added;indexes_removed;rls_enabled_tables_added;rls_enabled_tables_removed;rls_policies_added;rls_policies_modified;rls_policies_removed;roles_added;roles_modified;roles_removed;table_constraints_added;table_constraints_removed;tables_added;tables_removed;unique_protections_removed;vector_dimension_changed
type DriftCategory string

// Drift categories. The data_rows values are reserved: findings describe structure only.
const (
	DriftColumnsAdded             DriftCategory = "columns_added"
	DriftColumnsModified          DriftCategory = "columns_modified"
	DriftColumnsRemoved           DriftCategory = "columns_removed"
	DriftConstraintsAdded         DriftCategory = "constraints_added"
	DriftConstraintsRemoved       DriftCategory = "constraints_removed"
	DriftDataRowsDeleted          DriftCategory = "data_rows_deleted"
	DriftDataRowsInserted         DriftCategory = "data_rows_inserted"
	DriftDataRowsUpdated          DriftCategory = "data_rows_updated"
	DriftEnumValuesAdded          DriftCategory = "enum_values_added"
	DriftEnumValuesRemoved        DriftCategory = "enum_values_removed"
	DriftEnumsAdded               DriftCategory = "enums_added"
	DriftEnumsRemoved             DriftCategory = "enums_removed"
	DriftExtensionsAdded          DriftCategory = "extensions_added"
	DriftExtensionsModified       DriftCategory = "extensions_modified"
	DriftExtensionsRemoved        DriftCategory = "extensions_removed"
	DriftFunctionsAdded           DriftCategory = "functions_added"
	DriftFunctionsModified        DriftCategory = "functions_modified"
	DriftFunctionsRemoved         DriftCategory = "functions_removed"
	DriftIndexesAdded             DriftCategory = "indexes_added"
	DriftIndexesRemoved           DriftCategory = "indexes_removed"
	DriftRLSEnabledTablesAdded    DriftCategory = "rls_enabled_tables_added"
	DriftRLSEnabledTablesRemoved  DriftCategory = "rls_enabled_tables_removed"
	DriftRLSPoliciesAdded         DriftCategory = "rls_policies_added"
	DriftRLSPoliciesModified      DriftCategory = "rls_policies_modified"
	DriftRLSPoliciesRemoved       DriftCategory = "rls_policies_removed"
	DriftRolesAdded               DriftCategory = "roles_added"
	DriftRolesModified            DriftCategory = "roles_modified"
	DriftRolesRemoved             DriftCategory = "roles_removed"
	DriftTableConstraintsAdded    DriftCategory = "table_constraints_added"
	DriftTableConstraintsRemoved  DriftCategory = "table_constraints_removed"
	DriftTablesAdded              DriftCategory = "tables_added"
	DriftTablesRemoved            DriftCategory = "tables_removed"
	DriftUniqueProtectionsRemoved DriftCategory = "unique_protections_removed"
	DriftVectorDimensionChanged   DriftCategory = "vector_dimension_changed"
)
