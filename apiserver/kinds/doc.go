// Package kinds is the table of the kinds that the API server serves.
//
// One row is one resource in one version: its names, scope, verbs, subresources
// and selectable fields, and hooks for what is special about it. Routes,
// discovery, OpenAPI, table columns and store prefixes all range over the same
// slice, so that a kind is added in one place. Builtin gives the rows of
// Kubernetes' own stable API; custom resources are rows added at run time.
//
// Guarantees:
//   - within a group version the rows are in the order of their resources' names,
//     groups and versions in the order in which clients should prefer them
//   - the Go type of every row is known to Scheme
//   - two rows that share stored objects name the same Storage
//
// Left out against real Kubernetes: alpha and beta versions.
package kinds
