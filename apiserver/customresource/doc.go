// Package customresource makes rows of the table of kinds out of
// CustomResourceDefinitions, and says what becomes of a definition.
//
// A definition is read without its schemas, which are the bulk of it. Rows makes a
// row of each version: names, columns and selectable fields at once, the schema when
// the first object of the version comes, its CEL rules when the first one is
// validated. So a cluster pays for what it uses, and a restart with hundreds of
// definitions stays short.
//
// An object passes these stations, each in a file:
//   - schema.go compiles the schema of a version: structure, validators, rules
//   - coerce.go prunes fields that the schema does not know and repairs metadata
//   - convert.go leads between versions, through a webhook where the definition names one
//   - version.go puts these together to the ways in, to the store and back
//   - validate.go checks new objects and changes; what was wrong before may stay
//   - scale.go reads and writes the numbers of the scale subresource
//   - openapi.go publishes the schema
//
// names.go and status.go hold the pure rules by which a definition's names are
// accepted and its conditions change.
//
// The schema language itself is k8s.io/apiextensions-apiserver's. Left out against
// real Kubernetes: definitions without structural schema, which are of the time
// before apiextensions.k8s.io/v1.
package customresource
