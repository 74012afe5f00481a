package statefulset

import (
	"context"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/controllers/history"
	"github.com/kubesim/kubesim/controllers/runner"
)

// hashLabel has the hash in a revision's name.
const hashLabel = "controller.kubernetes.io/hash"

// findRevisions sets the update revision, which has the set's template, and the
// current one, which pods below the partition have. It returns how many names
// have been taken by others.
func (c *Controller) findRevisions(ctx context.Context, key runner.Key, s *scene, sorted []*appsv1.ControllerRevision) (collisions int32, err error) {
	if s.set.Status.CollisionCount != nil {
		collisions = *s.set.Status.CollisionCount
	}
	update, err := c.updateRevision(ctx, key, s.set, sorted, &collisions)
	if err != nil {
		return collisions, err
	}
	current := update
	for _, revision := range sorted {
		if revision.Name == s.set.Status.CurrentRevision {
			current = revision
		}
	}
	s.update = revision{name: update.Name, template: &s.set.Spec.Template}
	s.current = s.update
	if current != update {
		template, err := history.Template(current)
		if err != nil {
			return collisions, err
		}
		s.current = revision{name: current.Name, template: template}
	}
	return collisions, nil
}

func (c *Controller) updateRevision(ctx context.Context, key runner.Key, set *appsv1.StatefulSet, sorted []*appsv1.ControllerRevision, collisions *int32) (*appsv1.ControllerRevision, error) {
	for {
		next, err := newRevision(set, *collisions)
		if err != nil {
			return nil, err
		}
		current, rival, err := c.history.Current(ctx, key, sorted, next)
		if rival == nil {
			return current, err
		}
		*collisions++
	}
}

// newRevision makes the revision of a set's template, without a number.
func newRevision(set *appsv1.StatefulSet, collisions int32) (*appsv1.ControllerRevision, error) {
	data, err := history.Data(&set.Spec.Template)
	if err != nil {
		return nil, err
	}
	hash := history.DataHash(data, collisions)
	labels := maps.Clone(set.Spec.Template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[hashLabel] = hash
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: history.Name(set.Name, hash), Labels: labels, Annotations: maps.Clone(set.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, kind)},
		},
		Data: runtime.RawExtension{Raw: data},
	}, nil
}

// lives tells whether pods or the status still name a revision.
func (s *scene) lives(name string) bool {
	for _, pod := range s.pods {
		if revisionOf(pod) == name {
			return true
		}
	}
	return name == s.current.name || name == s.update.name
}
