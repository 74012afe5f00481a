package deployment

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	corev1 "k8s.io/api/core/v1"
)

var kind = appsv1.SchemeGroupVersion.WithKind("Deployment")

const hashLabel = appsv1.DefaultDeploymentUniqueLabelKey

// family is a Deployment with its ReplicaSets.
type family struct {
	d    *appsv1.Deployment
	sets []*appsv1.ReplicaSet // oldest first
	// current is the UID of the ReplicaSet that has the Deployment's template, if any.
	current types.UID
}

func newFamily(d *appsv1.Deployment, sets []*appsv1.ReplicaSet) family {
	f := family{d: d, sets: slices.SortedFunc(slices.Values(sets), olderFirst)}
	for _, set := range f.sets {
		if sameTemplate(&set.Spec.Template, &d.Spec.Template) {
			f.current = set.UID
			break
		}
	}
	return f
}

// newSet is the ReplicaSet of the current template, nil before it is made.
func (f *family) newSet() *appsv1.ReplicaSet {
	return f.byUID(f.current)
}

func (f *family) byUID(uid types.UID) *appsv1.ReplicaSet {
	for _, set := range f.sets {
		if set.UID == uid {
			return set
		}
	}
	return nil
}

// oldSets are those of other templates.
func (f *family) oldSets() []*appsv1.ReplicaSet {
	var old []*appsv1.ReplicaSet
	for _, set := range f.sets {
		if set.UID != f.current {
			old = append(old, set)
		}
	}
	return old
}

// put adds a ReplicaSet or takes over its new state.
func (f *family) put(set *appsv1.ReplicaSet) {
	for i := range f.sets {
		if f.sets[i].UID == set.UID {
			f.sets[i] = set
			return
		}
	}
	f.sets = append(f.sets, set)
}

// want is how many replicas the Deployment asks for.
func (f *family) want() int32 { return *f.d.Spec.Replicas }

func (f *family) rolling() bool {
	return f.d.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType
}

// fenceposts resolve the percentages of a rolling update: surge rounds up,
// unavailable down, and they are never both 0.
func (f *family) fenceposts() (surge, unavailable int32) {
	update := f.d.Spec.Strategy.RollingUpdate
	if !f.rolling() || update == nil {
		return 0, 0
	}
	surge, unavailable = resolve(update.MaxSurge, f.want(), true), resolve(update.MaxUnavailable, f.want(), false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

func resolve(value *intstr.IntOrString, of int32, roundUp bool) int32 {
	if value == nil {
		return 0
	}
	scaled, err := intstr.GetScaledValueFromIntOrPercent(value, int(of), roundUp)
	if err != nil {
		return 0 // validation refuses it
	}
	return int32(scaled)
}

// mostPods is how many pods there may be at a time.
func (f *family) mostPods() int32 {
	surge, _ := f.fenceposts()
	return f.want() + surge
}

// leastAvailable is how many pods must stay available.
func (f *family) leastAvailable() int32 {
	_, unavailable := f.fenceposts()
	return f.want() - min(unavailable, f.want())
}

// active are the ReplicaSets that want pods.
func active(sets []*appsv1.ReplicaSet) []*appsv1.ReplicaSet {
	var wanting []*appsv1.ReplicaSet
	for _, set := range sets {
		if *set.Spec.Replicas > 0 {
			wanting = append(wanting, set)
		}
	}
	return wanting
}

// wanted and available sum up what ReplicaSets ask for and have.
func wanted(sets []*appsv1.ReplicaSet) (sum int32) {
	for _, set := range sets {
		sum += *set.Spec.Replicas
	}
	return sum
}

// present is how many pods there are or will be: those that a ReplicaSet was
// told to take away count until it has. Kubernetes leaves them out, and exceeds
// maxSurge for a moment.
func present(sets []*appsv1.ReplicaSet) (sum int32) {
	for _, set := range sets {
		sum += max(*set.Spec.Replicas, set.Status.Replicas)
	}
	return sum
}

func available(sets []*appsv1.ReplicaSet) (sum int32) {
	for _, set := range sets {
		sum += set.Status.AvailableReplicas
	}
	return sum
}

func olderFirst(a, b *appsv1.ReplicaSet) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// sameTemplate compares templates but for the hash label.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	return equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(bare(a), bare(b))
}

func bare(template *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	meta := template.ObjectMeta.DeepCopy()
	delete(meta.Labels, hashLabel)
	return &corev1.PodTemplateSpec{ObjectMeta: *meta}
}
