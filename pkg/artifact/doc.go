// Package artifact publishes, resolves, verifies and fetches the OCI artifacts that carry a declared schema or a migration
// directory. It is the only package that talks to a registry.
//
// An artifact is an OCI 1.1 image manifest with an artifactType, the empty config and one layer per file, each with the standard
// title annotation. Publishing is reproducible: the same input gives the same digest.
//
// Nothing that a registry sends is trusted: every byte is checked against the digest that was asked for before it is used, every
// count and size is bounded (see the Max constants), and every file name is checked before a file of that name is made. Every error
// that leaves the package is an *Error whose text is ours; server bodies, library messages and credentials never appear in it.
package artifact
