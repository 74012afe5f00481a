// Package validation holds Kubernetes' rules for the objects it serves, as pure
// functions: one a kind, named after it, from the new object and the old one to
// the list of errors that a 422 answer shows.
//
//	errs := validation.Deployment(new, old) // old is nil on create
//
// What callers may rely on:
//
//   - Objects are defaulted first. A rule never fills a field in, and never writes.
//   - Field paths, error types and sentences are those of Kubernetes 1.37, in its
//     order. Where Kubernetes walks a map in random order, keys are sorted here.
//   - A function named after a subresource (PodStatus, PodResize) holds the rules
//     of a write to it; it takes the old object always.
//   - The functions named ...Warnings return the texts of Warning headers.
//
// A file is a family of kinds or of fields, and reads from the object down to its
// parts. Values that Kubernetes reports as its internal types, which carry no JSON
// names, go through byFieldName.
//
// Left out: rules that only apply with alpha features on, and those that need
// other objects (admission, allocation of addresses and ports).
package validation
