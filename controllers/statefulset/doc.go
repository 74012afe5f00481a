// Package statefulset gives a StatefulSet's pods names that stay, web-0 to
// web-N, and claims that stay with the names.
//
//	watches     StatefulSets, Pods, PersistentVolumeClaims, ControllerRevisions
//	owns        Pods, ControllerRevisions; claims where the retention policy says so
//	writes      Pods: create, delete, adopt, release, identity and volumes;
//	            PersistentVolumeClaims: create, owner references;
//	            ControllerRevisions: create, renumber, adopt, delete the oldest;
//	            StatefulSets: status
//	invariants  a name has at most one pod; with podManagementPolicy OrderedReady
//	            one pod at a time comes, goes or is replaced, and only while all
//	            before it are available; no more than maxUnavailable pods are
//	            unavailable because of an update
//
// decide plans what one reconcile does, as a pure function of the set, its
// pods and its claims; act.go carries it out in phases: the pods that should
// be there, then those beyond the replicas, then those of an old template.
//
// An OrderedReady set whose pods never become ready stays as it is when it gets
// a good template, as in Kubernetes, until somebody deletes the stuck pod.
package statefulset
