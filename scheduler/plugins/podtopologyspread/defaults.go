package podtopologyspread

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// defaults returns the constraints with that consequence for a pod without any.
// Kubernetes' own spread it with those of the same Service or controller, over nodes
// and more loosely over zones, by preference. A pod alone has none.
func (pl Plugin) defaults(pod *framework.PodInfo, action v1.UnsatisfiableConstraintAction) *constraints {
	if pl.fallback == nil && action == v1.DoNotSchedule || pl.fallback != nil && len(pl.fallback) == 0 {
		return nil
	}
	selector := pl.fellows(pod.Pod)
	if selector.Empty() {
		return nil
	}
	if pl.fallback != nil {
		return given(pod, selector, pl.fallback, action)
	}
	list := []constraint{
		{maxSkew: 3, minDomains: 1, topologyKey: v1.LabelHostname, selector: selector, honorAffinity: true},
		{maxSkew: 5, minDomains: 1, topologyKey: v1.LabelTopologyZone, selector: selector, honorAffinity: true},
	}
	return &constraints{pod: pod, list: list, affinity: nodeaffinity.GetRequiredNodeAffinity(pod.Pod)}
}

// given makes the configured constraints the pod's.
func given(pod *framework.PodInfo, selector labels.Selector, list []v1.TopologySpreadConstraint, action v1.UnsatisfiableConstraintAction) *constraints {
	c := &constraints{pod: pod, requireAll: true, affinity: nodeaffinity.GetRequiredNodeAffinity(pod.Pod)}
	for i := range list {
		if list[i].WhenUnsatisfiable != action {
			continue
		}
		if parsed, err := parse(pod.Pod, &list[i]); err == nil {
			parsed.selector = selector
			c.list = append(c.list, parsed)
		}
	}
	return c
}

// fellows selects the pods of the same Services and controller.
func (pl Plugin) fellows(pod *v1.Pod) labels.Selector {
	set := labels.Set{}
	if pl.handle.Services != nil {
		services, err := pl.handle.Services.Services(pod.Namespace).List(labels.Everything())
		if err != nil { // an informer's lister has none
			services = nil
		}
		for _, service := range services {
			selector := labels.Set(service.Spec.Selector)
			if len(selector) > 0 && selector.AsSelectorPreValidated().Matches(labels.Set(pod.Labels)) {
				set = labels.Merge(set, selector)
			}
		}
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return set.AsSelectorPreValidated()
	}
	return pl.withOwner(set, pod.Namespace, owner)
}

// withOwner adds the selector of a controller, if it is of a kind whose pods are alike.
func (pl Plugin) withOwner(set labels.Set, namespace string, owner *metav1.OwnerReference) labels.Selector {
	selector := set.AsSelectorPreValidated()
	var other *metav1.LabelSelector
	switch {
	case owner.APIVersion == "v1" && owner.Kind == "ReplicationController" && pl.handle.ReplicationControllers != nil:
		if rc, err := pl.handle.ReplicationControllers.ReplicationControllers(namespace).Get(owner.Name); err == nil {
			return labels.Merge(set, rc.Spec.Selector).AsSelectorPreValidated()
		}
	case owner.APIVersion == "apps/v1" && owner.Kind == "ReplicaSet" && pl.handle.ReplicaSets != nil:
		if rs, err := pl.handle.ReplicaSets.ReplicaSets(namespace).Get(owner.Name); err == nil {
			other = rs.Spec.Selector
		}
	case owner.APIVersion == "apps/v1" && owner.Kind == "StatefulSet" && pl.handle.StatefulSets != nil:
		if set, err := pl.handle.StatefulSets.StatefulSets(namespace).Get(owner.Name); err == nil {
			other = set.Spec.Selector
		}
	}
	if other == nil {
		return selector
	}
	parsed, err := metav1.LabelSelectorAsSelector(other)
	if err != nil {
		return selector
	}
	if requirements, selectable := parsed.Requirements(); selectable {
		selector = selector.Add(requirements...)
	}
	return selector
}
