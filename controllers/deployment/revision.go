package deployment

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/controllers/children"
)

const (
	revisionAnnotation = "deployment.kubernetes.io/revision"
	// historyAnnotation lists the earlier revisions of a ReplicaSet that was
	// rolled back to.
	historyAnnotation = "deployment.kubernetes.io/revision-history"
	maxHistoryLength  = 2000
)

// copied tells whether a ReplicaSet takes over a Deployment's annotation.
func copied(key string) bool {
	switch key {
	case corev1.LastAppliedConfigAnnotation, revisionAnnotation, historyAnnotation, desiredReplicas, maxReplicas, appsv1.DeprecatedRollbackTo:
		return false
	}
	return true
}

func revision(set *appsv1.ReplicaSet) int64 {
	n, err := strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// nextRevision is that of the new ReplicaSet: one more than the old ones have.
func (f *family) nextRevision() int64 {
	highest := int64(0)
	for _, set := range f.oldSets() {
		highest = max(highest, revision(set))
	}
	return highest + 1
}

// annotate copies the Deployment's annotations to a ReplicaSet and raises its
// revision. It tells whether that was news.
func (f *family) annotate(set *appsv1.ReplicaSet) bool {
	changed := false
	for key, value := range f.d.Annotations {
		if old, found := set.Annotations[key]; copied(key) && (!found || old != value) {
			metav1.SetMetaDataAnnotation(&set.ObjectMeta, key, value)
			changed = true
		}
	}
	before, had := set.Annotations[revisionAnnotation]
	if next := f.nextRevision(); revision(set) < next {
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, revisionAnnotation, strconv.FormatInt(next, 10))
		if had {
			remember(set, before)
		}
		changed = true
	}
	return changed
}

// remember adds a revision to a ReplicaSet's history, dropping the earliest if
// that grows too long.
func remember(set *appsv1.ReplicaSet, revision string) {
	history := revision
	if earlier := set.Annotations[historyAnnotation]; earlier != "" {
		history = earlier + "," + revision
	}
	for len(history) > maxHistoryLength && strings.Contains(history, ",") {
		_, history, _ = strings.Cut(history, ",")
	}
	metav1.SetMetaDataAnnotation(&set.ObjectMeta, historyAnnotation, history)
}

// construct makes the ReplicaSet of the current template.
func (f *family) construct() *appsv1.ReplicaSet {
	template := f.d.Spec.Template.DeepCopy()
	hash := children.TemplateHash(template, f.d.Status.CollisionCount)
	metav1.SetMetaDataLabel(&template.ObjectMeta, hashLabel, hash)
	size := f.newSize(0)
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       f.d.Namespace,
			Name:            f.d.Name + "-" + hash,
			Labels:          template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(f.d, kind)},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas:        &size,
			MinReadySeconds: f.d.Spec.MinReadySeconds,
			Selector:        metav1.CloneSelectorAndAddLabel(f.d.Spec.Selector, hashLabel, hash),
			Template:        *template,
		},
	}
	f.annotate(set)
	f.annotateSizes(set)
	return set
}

// expendable are the old ReplicaSets beyond the history limit that have no pods
// left, the earliest revisions first.
func (f *family) expendable() []*appsv1.ReplicaSet {
	limit := f.d.Spec.RevisionHistoryLimit
	if limit == nil || *limit == math.MaxInt32 {
		return nil
	}
	old := slices.DeleteFunc(f.oldSets(), func(set *appsv1.ReplicaSet) bool { return set.DeletionTimestamp != nil })
	excess := len(old) - int(*limit)
	if excess <= 0 {
		return nil
	}
	slices.SortStableFunc(old, func(a, b *appsv1.ReplicaSet) int { return cmp.Compare(revision(a), revision(b)) })
	return slices.DeleteFunc(old[:excess], func(set *appsv1.ReplicaSet) bool {
		return set.Status.Replicas != 0 || *set.Spec.Replicas != 0 || set.Generation > set.Status.ObservedGeneration
	})
}
