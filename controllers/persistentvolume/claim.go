package persistentvolume

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"
)

// world is what a decision about a claim looks at beside the claim.
type world interface {
	volume(name string) *corev1.PersistentVolume
	candidates(*corev1.PersistentVolumeClaim) []*corev1.PersistentVolume
	storageClasses() storagelisters.StorageClassLister
	unscheduled(*corev1.PersistentVolumeClaim) []string
}

// event is one to be sent.
type event struct{ eventType, reason, message string }

func normal(reason, message string) *event { return &event{corev1.EventTypeNormal, reason, message} }
func warning(reason, message string) *event {
	return &event{corev1.EventTypeWarning, reason, message}
}

// claimStep is what comes next for a claim: one of bind, class and phase.
type claimStep struct {
	bind        *corev1.PersistentVolume
	class       string // to be set, since it became the default one
	phase       corev1.PersistentVolumeClaimPhase
	provisioner string // to be asked for a volume, in the claim's annotations
	event       *event // when Lost, only at the change of phase
}

func (s claimStep) String() string {
	switch {
	case s.bind != nil:
		return "bind to volume " + s.bind.Name
	case s.class != "":
		return "take the default class " + s.class
	case s.event != nil:
		return s.event.message
	}
	return "stay " + string(s.phase)
}

func pending(e *event) claimStep { return claimStep{phase: corev1.ClaimPending, event: e} }
func lost(reason, message string) claimStep {
	return claimStep{phase: corev1.ClaimLost, event: warning(reason, message)}
}

// decideClaim says what comes next for a claim.
func decideClaim(claim *corev1.PersistentVolumeClaim, w world) (claimStep, error) {
	switch {
	case metav1.HasAnnotation(claim.ObjectMeta, volumehelpers.AnnBindCompleted):
		return decideBound(claim, w), nil
	case claim.Spec.VolumeName != "":
		return decideNamed(claim, w.volume(claim.Spec.VolumeName))
	}
	return decideUnbound(claim, w)
}

// decideBound checks that a binding still holds.
func decideBound(claim *corev1.PersistentVolumeClaim, w world) claimStep {
	if claim.Spec.VolumeName == "" {
		return lost("ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
	}
	v := w.volume(claim.Spec.VolumeName)
	switch {
	case v == nil:
		return lost("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
	case v.Spec.ClaimRef == nil, v.Spec.ClaimRef.UID == claim.UID:
		return claimStep{bind: v}
	}
	return lost("ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
}

// decideNamed is for a claim that asks for one volume by name.
func decideNamed(claim *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) (claimStep, error) {
	switch {
	case v == nil:
		return pending(nil), nil
	case v.Spec.ClaimRef == nil:
		if err := satisfies(v, claim); err != nil {
			return pending(warning("VolumeMismatch", fmt.Sprintf("Cannot bind to requested volume %q: %s", v.Name, err))), nil
		}
		return claimStep{bind: v}, nil
	case volumehelpers.IsVolumeBoundToClaim(v, claim):
		return claimStep{bind: v}, nil
	case metav1.HasAnnotation(claim.ObjectMeta, volumehelpers.AnnBoundByController):
		ref := v.Spec.ClaimRef
		return claimStep{}, fmt.Errorf("claim %s/%s is half bound to volume %s, which belongs to claim %s/%s", claim.Namespace, claim.Name, v.Name, ref.Namespace, ref.Name)
	}
	return pending(warning("FailedBinding", fmt.Sprintf("volume %q already bound to a different claim.", v.Name))), nil
}

// satisfies tells why a volume that a claim names won't do. It need not match
// the claim's selector.
func satisfies(v *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) error {
	size, wanted := v.Spec.Capacity[corev1.ResourceStorage], claim.Spec.Resources.Requests[corev1.ResourceStorage]
	switch {
	case v.DeletionTimestamp != nil:
		return errors.New("the volume is marked for deletion")
	case size.Cmp(wanted) < 0:
		return errors.New("requested PV is too small")
	case volumehelpers.GetPersistentVolumeClass(v) != volumehelpers.GetPersistentVolumeClaimClass(claim):
		return errors.New("storageClassName does not match")
	case volumehelpers.CheckVolumeModeMismatches(&claim.Spec, &v.Spec):
		return errors.New("incompatible volumeMode")
	case !volumehelpers.CheckAccessModes(claim, v):
		return errors.New("incompatible accessMode")
	}
	return nil
}

// decideUnbound looks for a volume, or for somebody to make one.
func decideUnbound(claim *corev1.PersistentVolumeClaim, w world) (claimStep, error) {
	class := volumehelpers.GetPersistentVolumeClaimClass(claim)
	delayed, err := volumehelpers.IsDelayBindingMode(claim, w.storageClasses())
	if err != nil {
		return claimStep{}, err
	}
	volumes := w.candidates(claim)
	best, err := bestMatch(claim, volumes, delayed)
	if err != nil {
		return claimStep{}, err
	}
	switch {
	case best != nil:
		return claimStep{bind: best}, nil
	case !delayed && slices.ContainsFunc(volumes, isNew):
		return pending(nil), nil // it wakes the claim in a moment
	case !volumehelpers.PersistentVolumeClaimHasClass(claim) && defaultClass(w.storageClasses()) != "":
		return claimStep{class: defaultClass(w.storageClasses())}, nil
	case delayed && !volumehelpers.IsDelayBindingProvisioning(claim):
		return pending(waitForConsumer(w.unscheduled(claim))), nil
	case class != "":
		return provision(class, w.storageClasses())
	}
	return pending(normal("FailedBinding", "no persistent volumes available for this claim and no storage class is set")), nil
}

// isNew tells that a volume was made just now and not offered yet.
func isNew(v *corev1.PersistentVolume) bool { return v.Status.Phase == corev1.VolumePending }

// bestMatch is the smallest volume that will do, of those with the fewest
// access modes. Of a class that waits for a consumer, only volumes that point
// to the claim already count: the scheduler chooses.
func bestMatch(claim *corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume, delayed bool) (*corev1.PersistentVolume, error) {
	byModes := map[int][]*corev1.PersistentVolume{}
	most := 0
	for _, v := range volumes {
		if volumehelpers.CheckAccessModes(claim, v) {
			modes := len(v.Spec.AccessModes)
			byModes[modes], most = append(byModes[modes], v), max(most, modes)
		}
	}
	for modes := range most + 1 {
		best, err := volumehelpers.FindMatchingVolume(claim, byModes[modes], nil, nil, delayed, true)
		if best != nil || err != nil {
			return best, err
		}
	}
	return nil, nil
}

func waitForConsumer(pods []string) *event {
	switch len(pods) {
	case 0:
		return normal("WaitForFirstConsumer", "waiting for first consumer to be created before binding")
	case 1:
		return normal("WaitForPodScheduled", fmt.Sprintf("waiting for pod %s to be scheduled", pods[0]))
	}
	return normal("WaitForPodScheduled", fmt.Sprintf("waiting for pods %s to be scheduled", strings.Join(pods, ",")))
}

// provision asks the class's provisioner for a volume.
func provision(name string, classes storagelisters.StorageClassLister) (claimStep, error) {
	class, err := classes.Get(name)
	switch {
	case apierrors.IsNotFound(err):
		return pending(warning("ProvisioningFailed", err.Error())), nil
	case err != nil:
		return claimStep{}, err
	case strings.HasPrefix(class.Provisioner, "kubernetes.io/"):
		return pending(warning("ProvisioningFailed", "no volume plugin matched name: "+class.Provisioner)), nil
	}
	step := pending(normal("ExternalProvisioning", fmt.Sprintf("Waiting for a volume to be created either by the external provisioner '%s' "+
		"or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.", class.Provisioner)))
	step.provisioner = class.Provisioner
	return step, nil
}

// defaultClass is the newest of those marked as default, "" for none.
func defaultClass(lister storagelisters.StorageClassLister) string {
	classes, err := lister.List(labels.Everything())
	if err != nil {
		return "" // a lister's never fails
	}
	classes = slices.DeleteFunc(classes, func(c *storagev1.StorageClass) bool { return !isDefault(c) })
	if len(classes) == 0 {
		return ""
	}
	return slices.MinFunc(classes, func(a, b *storagev1.StorageClass) int {
		if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
			return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
		}
		return strings.Compare(a.Name, b.Name)
	}).Name
}

func isDefault(class *storagev1.StorageClass) bool {
	return class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
		class.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}
