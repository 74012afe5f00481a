package daemonset

import (
	"context"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/history"
	"github.com/kubesim/kubesim/controllers/runner"
)

// currentHash finds or makes the revision of a set's template and returns its
// hash. It is "" when another object has the name: the collision is noted in
// the status, and the next reconcile tries another hash.
func (c *Controller) currentHash(ctx context.Context, key runner.Key, ds *appsv1.DaemonSet, sorted []*appsv1.ControllerRevision) (string, error) {
	next, err := newRevision(ds)
	if err != nil {
		return "", err
	}
	current, rival, err := c.history.Current(ctx, key, sorted, next)
	if err != nil {
		return "", err
	}
	if rival == nil {
		return current.Labels[hashLabel], nil
	}
	runner.Decide(ctx, "the name %s is taken, try another hash", rival.Name)
	collided := ds.Status.DeepCopy()
	if collided.CollisionCount == nil {
		collided.CollisionCount = new(int32)
	}
	*collided.CollisionCount++
	return "", c.writeStatus(ctx, key, ds, *collided)
}

// newRevision makes the revision of a set's template, without a number.
func newRevision(ds *appsv1.DaemonSet) (*appsv1.ControllerRevision, error) {
	data, err := history.Data(&ds.Spec.Template)
	if err != nil {
		return nil, err
	}
	hash := children.TemplateHash(&ds.Spec.Template, ds.Status.CollisionCount)
	labels := maps.Clone(ds.Spec.Template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[hashLabel] = hash
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ds.Namespace, Name: ds.Name + "-" + hash, Labels: labels, Annotations: maps.Clone(ds.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(ds, kind)},
		},
		Data: runtime.RawExtension{Raw: data},
	}, nil
}

// expendable are the revisions beyond the history limit that no pod has. The
// current one does not count against the limit.
func expendable(s scene, sorted []*appsv1.ControllerRevision) []*appsv1.ControllerRevision {
	hashes := map[string]string{}
	for _, revision := range sorted {
		hashes[revision.Name] = revision.Labels[hashLabel]
	}
	return history.Expendable(sorted, s.ds.Spec.RevisionHistoryLimit, func(name string) bool {
		if hashes[name] == s.hash {
			return true
		}
		for _, pods := range s.pods {
			for _, pod := range pods {
				if pod.Labels[hashLabel] == hashes[name] {
					return true
				}
			}
		}
		return false
	})
}
