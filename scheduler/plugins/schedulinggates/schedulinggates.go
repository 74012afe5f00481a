// Package schedulinggates holds pods back until spec.schedulingGates is empty.
package schedulinggates

import (
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name of the plugin.
const Name = "SchedulingGates"

// Plugin implements framework.PreEnqueuePlugin.
type Plugin struct{}

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }

// PreEnqueue implements framework.PreEnqueuePlugin.
func (Plugin) PreEnqueue(pod *v1.Pod) *framework.Status {
	if gates := Gates(pod); len(gates) > 0 {
		return framework.RejectForGood(Name, fmt.Sprintf("waiting for scheduling gates: %v", gates))
	}
	return nil
}

// Gates returns the names of the gates that are still shut.
func Gates(pod *v1.Pod) []string {
	var names []string
	for _, gate := range pod.Spec.SchedulingGates {
		names = append(names, gate.Name)
	}
	return names
}

// Hints implements framework.Hinter.
func (Plugin) Hints() []framework.Hint {
	return []framework.Hint{{On: framework.PodUpdate}}
}
