// Package discovery answers what the API server serves: /version, /api, /apis and
// below, in the legacy form (one document a group version) and the aggregated one
// (one document for all, KEP-3352).
//
// Every document is a pure function of the table of kinds. Documents are made on
// the first request after the table has changed, all at once, and kept as bytes.
//
// Guarantees:
//   - the rows' order is the documents' order; groups of custom resources follow
//     the built-in ones by name, their versions in Kubernetes' order (v2, v1, v1beta1)
//   - an aggregated document has an ETag that changes with its content, and a
//     request that knows it is answered 304
//
// Left out against real Kubernetes: YAML and protobuf, which no client asks for
// alone, and the beta form of the aggregated documents.
package discovery
