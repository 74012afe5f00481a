// Package garbagecollector deletes objects whose owners are gone, and carries
// out the foreground and orphan deletion of owners.
//
// It watches the metadata of every resource that discovery calls deletable,
// listable and watchable, and keeps a graph of who owns whom by uid. An event
// changes the graph and names the objects to look at; a reconcile looks at one:
//
//   - finalizer "orphan" on a deleted owner: take it out of the dependents'
//     owner references, then drop the finalizer;
//   - finalizer "foregroundDeletion": delete the dependents that block it,
//     and drop the finalizer when none is left;
//   - a dependent: drop references to owners that are gone if another owner
//     stays, and delete it if none does.
//
// The graph alone never condemns an object: it may lag. Each owner is looked up
// live, in the dependent's own namespace, by uid. A reference to a kind that
// is not served keeps its dependent: its owner may well exist. A reference
// across namespaces is answered with the event OwnerRefInvalidNamespace and
// treated as that to an owner that is not there.
//
// Discovery is polled, so dependents of a new custom resource may wait 30 s.
// Events are not watched.
package garbagecollector
