// Package fakelet plays the nodes of a cluster. One process stands for all their
// kubelets: it registers the nodes, renews their Leases and conditions, and takes
// the pods that are bound to them through their lives. It meets the rest of the
// cluster through the API alone.
//
// The way of a pod: an informer (all pods with a node) puts its key on a work
// queue; a worker asks decide, a pure function, for the next step; the worker
// writes the step's status or deletes the pod; the watch brings the result back,
// and with it the next round. Nodes go the same way through a queue of their own
// (nodes.go, node.go).
//
// Guarantees:
//
//   - A Node is played while it carries the annotation kubesim.io/fake: "true".
//     Those made at start have it; nodes without it belong to somebody else, and
//     neither they nor their pods are touched.
//   - Restarting the process changes no running pod: what a kubelet would keep in
//     memory is read back from the pods' statuses, addresses included.
//   - A status is written when a container or the spec changes, not to restore
//     what somebody else wrote. So a condition set by hand stays.
//   - A pod whose containers start at once takes one write to be Running and Ready.
//   - A server, or a command that only waits, costs no goroutine.
//   - Events never hold up a pod. They are written behind it, and dropped when too
//     many wait.
//
// What a decision needs to know of containers that run, it asks the world
// (runs.go), which the containers of package runtime stand behind. Most containers
// have none: of a server, or a command whose end can be seen, the plan says all.
// Package server is the kubelets' HTTP API, network.go the simulated network.
//
// Package stage has users' own life cycles as data (stages.go): they come first.
// Users steer by annotations as well: kubesim.io/fail and kubesim.io/usage on a Pod,
// kubesim.io/kubelet and kubesim.io/pressure on a Node.
//
// Left out against a real kubelet: images (what a container does is known from a
// table, or guessed), cgroups and users, checkpoints, static pods, device plugins,
// swap, garbage collection of images and containers.
package fakelet
