// Package openapi serves the OpenAPI documents by which clients know the fields of
// the kinds: /openapi/v3, one document a group version, and /openapi/v2, one for all.
//
// Nothing is made before it is asked for.
package openapi
