// Package openapi serves the OpenAPI documents from which clients learn the fields
// of the kinds: /openapi/v3, an index and one document a group version, and
// /openapi/v2, one document for all. kubectl explain prints them; kubectl apply and
// diff take merge keys and query parameters from them.
//
// The documents are made of what the server holds anyway. Operations follow from
// the table of kinds. Schemas follow from the Go types: their fields and tags, the
// texts of SwaggerDoc, and the schema of client-go's apply configurations, which
// knows how lists merge. The types of apimachinery, of custom resource definitions
// and of API services come with generated definitions, which are taken as they are.
//
// Guarantees:
//   - nothing is made before it is asked for, and once only until the table changes
//   - a schema's name, fields and merge keys are those of the same release of Kubernetes
//   - the URLs of the index carry a hash, so that clients can keep the document: of the
//     build and of the definitions of custom resources, not of the document itself
//
// Left out against real Kubernetes: enumerations of values, which no compiled package
// tells; a field that is optional by comment alone shows as required.
package openapi
