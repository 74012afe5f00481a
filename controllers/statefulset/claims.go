package statefulset

import (
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

func claimName(template, set string, n int) string {
	return template + "-" + set + "-" + strconv.Itoa(n)
}

// claimsOf makes the claims of a pod from the set's templates.
func claimsOf(set *appsv1.StatefulSet, pod *corev1.Pod) []*corev1.PersistentVolumeClaim {
	claims := make([]*corev1.PersistentVolumeClaim, len(set.Spec.VolumeClaimTemplates))
	for i := range set.Spec.VolumeClaimTemplates {
		claim := set.Spec.VolumeClaimTemplates[i].DeepCopy()
		claim.Name, claim.Namespace = claimName(claim.Name, set.Name, ordinal(pod)), set.Namespace
		if claim.Labels == nil {
			claim.Labels = map[string]string{}
		}
		maps.Copy(claim.Labels, set.Spec.Selector.MatchLabels)
		claims[i] = claim
	}
	return claims
}

// setVolumes gives a pod a volume for each claim, in place of those of the same name.
func setVolumes(set *appsv1.StatefulSet, pod *corev1.Pod) {
	var volumes []corev1.Volume
	for _, template := range set.Spec.VolumeClaimTemplates {
		volumes = append(volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(template.Name, set.Name, ordinal(pod))},
		}})
	}
	for _, volume := range pod.Spec.Volumes {
		if !slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == volume.Name }) {
			volumes = append(volumes, volume)
		}
	}
	pod.Spec.Volumes = volumes
}

func hasVolumes(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	for _, template := range set.Spec.VolumeClaimTemplates {
		if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Name == template.Name && v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claimName(template.Name, set.Name, ordinal(pod))
		}) {
			return false
		}
	}
	return true
}

// stale tells whether a claim must be gone before its pod can be made: it is on
// its way out, or it belongs to an earlier pod and goes with that.
func stale(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	return claim.DeletionTimestamp != nil || slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return names(ref, podKind, pod.Name) && ref.UID != pod.UID
	})
}

// retainedBy returns the owner references that the retention policy wants on a
// claim, and whether they differ from what it has. A claim goes with its set
// (whenDeleted), or with its pod once that is beyond the replicas (whenScaled).
func retainedBy(set *appsv1.StatefulSet, pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) ([]metav1.OwnerReference, bool) {
	wanted := slices.DeleteFunc(slices.Clone(claim.OwnerReferences), func(ref metav1.OwnerReference) bool {
		return names(ref, kind, set.Name) || names(ref, podKind, pod.Name)
	})
	if !slices.ContainsFunc(wanted, func(ref metav1.OwnerReference) bool { return ref.Controller != nil && *ref.Controller }) {
		policy := retention(set)
		switch deletes := appsv1.DeletePersistentVolumeClaimRetentionPolicyType; {
		case policy.WhenScaled == deletes && !inRange(set, pod):
			wanted = append(wanted, *metav1.NewControllerRef(pod, podKind))
		case policy.WhenDeleted == deletes:
			wanted = append(wanted, *metav1.NewControllerRef(set, kind))
		}
	}
	return wanted, !sameOwners(wanted, claim.OwnerReferences)
}

func retention(set *appsv1.StatefulSet) appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	if policy := set.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
		return *policy
	}
	retain := appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	return appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: retain, WhenScaled: retain}
}

func names(ref metav1.OwnerReference, kind schema.GroupVersionKind, name string) bool {
	return ref.Kind == kind.Kind && ref.APIVersion == kind.GroupVersion().String() && ref.Name == name
}

// sameOwners compares references but for their order.
func sameOwners(a, b []metav1.OwnerReference) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(ref metav1.OwnerReference) bool {
		return !slices.ContainsFunc(b, func(other metav1.OwnerReference) bool {
			return ref.UID == other.UID && ref.Name == other.Name && (ref.Controller != nil && *ref.Controller) == (other.Controller != nil && *other.Controller)
		})
	})
}
