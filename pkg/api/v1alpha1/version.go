package v1alpha1

const (
	// CRDSchemaVersion is the version that all six CRDs carry. It grows whenever the normalised spec of any of them changes after a
	// release, and stays when none does.
	CRDSchemaVersion = 1
	// ControllerStateVersion is the version of the stored-state semantics of this manager. A manager refuses state with a higher one.
	ControllerStateVersion = 2
)
