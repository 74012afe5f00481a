package interpodaffinity

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Hints implements framework.Hinter.
func (Plugin) Hints() []framework.Hint {
	return []framework.Hint{
		{On: framework.AssignedPodAdd | framework.AssignedPodDelete | framework.AssignedPodLabelUpdate, Helps: helps},
		{On: framework.NodeAdd | framework.NodeLabelUpdate | framework.NamespaceLabelUpdate | framework.PodUpdate},
	}
}

// helps reports whether a pod that came is wanted near, or one that went was
// not. It leaves namespaces aside: to try once too often does no harm.
func helps(waiting *v1.Pod, change framework.Change) bool {
	pod, err := framework.NewPodInfo(waiting)
	if err != nil {
		return true
	}
	if came, ok := change.New.(*v1.Pod); ok {
		for i := range pod.RequiredAffinity {
			if pod.RequiredAffinity[i].Selector.Matches(labels.Set(came.Labels)) {
				return true
			}
		}
	}
	went, ok := change.Old.(*v1.Pod)
	if !ok {
		return false
	}
	other, err := framework.NewPodInfo(went)
	return err != nil || selects(pod.RequiredAntiAffinity, went) || selects(other.RequiredAntiAffinity, waiting)
}

func selects(terms []framework.AffinityTerm, pod *v1.Pod) bool {
	for i := range terms {
		if terms[i].Selector.Matches(labels.Set(pod.Labels)) {
			return true
		}
	}
	return false
}
