// Package defaultpreemption decides which pods to evict so that a more
// important one fits: Eligible, then SelectVictims on each node that could be
// emptied, then Pick among the nodes.
//
// All of it is thought: the scheduler carries the choice out.
package defaultpreemption

// Name of the plugin.
const Name = "DefaultPreemption"
