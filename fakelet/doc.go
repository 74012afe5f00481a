// Package fakelet plays the nodes of a cluster: it registers them, keeps their
// Leases and conditions, and takes each pod that is bound to one of them through
// its life cycle. It meets the rest of the cluster through the API alone.
//
// Guarantees:
//
//   - A Node that somebody else made is left alone, unless it carries the
//     annotation kubesim.io/fake: "true".
//   - What a pod becomes next is a pure function of the pod (see lifecycle.go);
//     a write that would change nothing is not made.
//   - A restart leaves running pods as they are, with their addresses.
//
// Left out: containers. Commands that plainly end (exit 3, sleep 5, echo …) end,
// everything else is a server that runs on.
package fakelet
