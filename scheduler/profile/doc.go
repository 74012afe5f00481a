// Package profile runs the plugins of one profile over the nodes for one pod.
//
// Pods made from the same template are judged alike by most plugins, and a node
// is judged alike until it changes. So the verdicts and scores of plugins
// marked Local are remembered by pod signature and node generation: the second
// of a thousand replicas costs a comparison a node. Plugins that look at other
// nodes or objects, such as inter-pod affinity, are asked each time.
//
// A Profile is used by one goroutine, the scheduling loop.
package profile
