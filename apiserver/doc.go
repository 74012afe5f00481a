// Package apiserver serves the Kubernetes API over a store.Store.
//
// The way of a request, a file a step:
//
//	filters.go    recover, refuse foreign Host and Origin, count, trace
//	authorize.go  who sends it, and may he (packages authentication, rbac, audit)
//	flowcontrol.go  who waits for whom (package fairness)
//	request.go    the path and query become a request: kind, verb, name, options
//	negotiate.go  Accept becomes a form: JSON, YAML, protobuf; object, Table, metadata
//	body.go       the body becomes an object, strict or not
//	get.go list.go watch.go create.go update.go patch.go apply.go delete.go   the verbs
//	fieldmanager.go  who owns which field of an object (package fieldmanager)
//	admit.go      the admission plugins (package admission), and what they leave behind
//	mutate.go     the compare-and-swap loop under every write to an existing object
//	encode.go     an object becomes bytes of the form asked for
//	status.go     an error becomes a metav1.Status; the only place that does so
//
// Beside it:
//
//	follower.go     hears of changes to the objects that the server itself goes by
//	definitions.go  CustomResourceDefinitions become rows of the table (package customresource)
//	removal.go      the objects of a definition go before it does
//	aggregation.go proxy.go resolve.go   APIServices and the servers behind them
//
//	review.go token.go  reviews, and the tokens of ServiceAccounts
//	policy.go escalation.go nodeauthorizer.go  roles: the first ones, who may give them, kubelets
//
// Guarantees:
//
//   - A write is one compare-and-swap in the store. A stale resourceVersion is
//     409; without one the change is made again on what is there now.
//   - A write that changes nothing keeps the revision.
//   - Reads come from the watch cache (package cache), and are as fresh as a
//     linearizable read unless the client allows older data.
//   - A watch delivers every change once, in revision order, or ends with 410.
//   - All kinds go the same way; what differs stands in the table (package kinds).
package apiserver
