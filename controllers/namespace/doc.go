// Package namespace empties and removes namespaces that are being deleted.
//
// The server leaves a deleted namespace in phase Terminating until its
// finalizer "kubernetes" is gone. This controller
//
//   - deletes pods first, respecting their grace, since what else is in the
//     namespace may still protect or serve them (KEP-5080);
//   - then deletes everything else of every deletable namespaced resource that
//     discovery tells of, custom resources included;
//   - reports in five conditions what stands in the way;
//   - and removes its finalizer only when nothing remains and nothing failed,
//     discovery included: a group that can't be asked may hold objects.
package namespace
