package volumebinding

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// claims of a pod.
type claims struct {
	bound   []*v1.PersistentVolumeClaim
	delayed []*v1.PersistentVolumeClaim // wait for the pod's node, smallest first
}

// sort looks the pod's claims up. A status that is not OK says why the pod
// cannot run anywhere yet.
func (pl *Plugin) sort(pod *v1.Pod) (claims, *framework.Status) {
	var sorted claims
	immediate := false
	for i := range pod.Spec.Volumes {
		claim, status := pl.claim(pod, &pod.Spec.Volumes[i])
		switch {
		case !status.OK():
			return claims{}, status
		case claim == nil:
		case isBound(claim):
			sorted.bound = append(sorted.bound, claim)
		default:
			delayed, err := volumehelpers.IsDelayBindingMode(claim, pl.handle.Classes)
			if err != nil {
				return claims{}, framework.Failed(Name, err)
			}
			if delayed && claim.Spec.VolumeName == "" {
				sorted.delayed = append(sorted.delayed, claim)
			} else {
				immediate = true
			}
		}
	}
	if immediate {
		return claims{}, framework.RejectForGood(Name, "pod has unbound immediate PersistentVolumeClaims")
	}
	slices.SortStableFunc(sorted.delayed, func(a, b *v1.PersistentVolumeClaim) int {
		return size(a).Cmp(*size(b))
	})
	return sorted, nil
}

// claim returns the claim behind a volume, nil if there is none.
func (pl *Plugin) claim(pod *v1.Pod, volume *v1.Volume) (*v1.PersistentVolumeClaim, *framework.Status) {
	name := framework.ClaimName(pod, volume)
	if name == "" {
		return nil, nil
	}
	claim, err := pl.handle.Claims.PersistentVolumeClaims(pod.Namespace).Get(name)
	reason := ""
	switch {
	case apierrors.IsNotFound(err) && volume.Ephemeral != nil:
		reason = fmt.Sprintf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", name)
	case err != nil:
		reason = err.Error()
	case claim.Status.Phase == v1.ClaimLost:
		reason = fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", name, claim.Spec.VolumeName)
	case claim.DeletionTimestamp != nil:
		reason = fmt.Sprintf("persistentvolumeclaim %q is being deleted", name)
	case volume.Ephemeral != nil:
		if err := ephemeral.VolumeIsForPod(pod, claim); err != nil {
			reason = err.Error()
		}
	}
	if reason != "" {
		return nil, framework.RejectForGood(Name, reason)
	}
	return claim, nil
}

// isBound reports whether volume and claim point to each other, and not only one to the other.
func isBound(claim *v1.PersistentVolumeClaim) bool {
	return claim.Spec.VolumeName != "" && metav1.HasAnnotation(claim.ObjectMeta, volumehelpers.AnnBindCompleted)
}
