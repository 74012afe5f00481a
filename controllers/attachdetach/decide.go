package attachdetach

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubesim/kubesim/controllers/children"
)

const (
	// attachTimeout is when an attachment that nobody answers is complained about.
	attachTimeout = 2 * time.Minute
	// unmountTimeout is how long a node that is not ready is trusted to still use its volumes.
	unmountTimeout = 6 * time.Minute
)

// use is a volume with the pods of one node that use it.
type use struct {
	volume *corev1.PersistentVolume
	pods   []*corev1.Pod
}

// event is one for each of the pods.
type event struct {
	pods                       []*corev1.Pod
	eventType, reason, message string
}

// plan is what to do about one node.
type plan struct {
	attach []*storagev1.VolumeAttachment
	detach []*storagev1.VolumeAttachment
	// attached is what the node's status is to list.
	attached []corev1.AttachedVolume
	events   []event
	again    time.Duration
}

// elsewhere tells whether other nodes hold a volume, and for which pods.
type elsewhere func(v *corev1.PersistentVolume, node string) (bool, []*corev1.Pod)

// held is an attachment with its volume, nil if that is gone.
type held struct {
	*storagev1.VolumeAttachment
	volume *corev1.PersistentVolume
}

// decide compares what the pods of a node use with its attachments. The node
// is nil when it is gone.
func decide(node *corev1.Node, name string, wanted map[string]*use, have []held, others elsewhere, now time.Time) plan {
	var p plan
	found := map[string]bool{}
	for _, a := range have {
		used := wanted[volumeName(a.VolumeAttachment)]
		found[volumeName(a.VolumeAttachment)] = true
		switch {
		case a.DeletionTimestamp != nil:
		case used == nil && inUse(node, a.volume, now):
			p.report(node, a.volume, nil)
			p.again = unmountTimeout
		case used == nil:
			p.detach = append(p.detach, a.VolumeAttachment)
		case a.Status.Attached:
			p.report(node, used.volume, used.pods)
		default:
			p.complain(a.VolumeAttachment, used, now)
		}
	}
	for _, used := range wanted {
		if found[used.volume.Name] {
			continue
		}
		if taken, pods := others(used.volume, name); taken && exclusive(used.volume) {
			p.events = append(p.events, event{used.pods, corev1.EventTypeWarning, "FailedAttachVolume", multiAttach(used, pods)})
			continue
		}
		p.attach = append(p.attach, attachment(used.volume, name))
	}
	slices.SortFunc(p.attached, func(a, b corev1.AttachedVolume) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return p
}

// inUse reports whether a node says that it still uses a volume, and is to be
// believed: not one that is gone, out of service or not ready for long.
func inUse(node *corev1.Node, v *corev1.PersistentVolume, now time.Time) bool {
	if node == nil || v == nil || !slices.Contains(node.Status.VolumesInUse, uniqueName(v)) {
		return false
	}
	if slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService }) {
		return false
	}
	since := notReadySince(node)
	return since.IsZero() || now.Sub(since) < unmountTimeout
}

// notReadySince is zero for a node that is ready.
func notReadySince(node *corev1.Node) time.Time {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
			return condition.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// report lists a volume as attached; its pods are told when the node's status did not yet.
func (p *plan) report(node *corev1.Node, v *corev1.PersistentVolume, pods []*corev1.Pod) {
	if node == nil {
		return
	}
	attached := corev1.AttachedVolume{Name: uniqueName(v)}
	p.attached = append(p.attached, attached)
	if len(pods) > 0 && !slices.ContainsFunc(node.Status.VolumesAttached, func(v corev1.AttachedVolume) bool { return v.Name == attached.Name }) {
		p.events = append(p.events, event{
			pods, corev1.EventTypeNormal, "SuccessfulAttachVolume",
			fmt.Sprintf("AttachVolume.Attach succeeded for volume %q ", v.Name),
		})
	}
}

// complain is for an attachment that failed, or that nobody answers.
func (p *plan) complain(a *storagev1.VolumeAttachment, used *use, now time.Time) {
	reason := ""
	switch age := now.Sub(a.CreationTimestamp.Time); {
	case a.Status.AttachError != nil:
		reason = a.Status.AttachError.Message
	case age >= attachTimeout:
		reason = fmt.Sprintf("timed out waiting for external-attacher of %s CSI driver to attach volume %s", a.Spec.Attacher, used.volume.Spec.CSI.VolumeHandle)
		p.again = attachTimeout
	default:
		p.again = attachTimeout - age
		return
	}
	p.events = append(p.events, event{
		used.pods, corev1.EventTypeWarning, "FailedAttachVolume",
		fmt.Sprintf("AttachVolume.Attach failed for volume %q : %s", used.volume.Name, reason),
	})
}

// exclusive reports whether only one node may have the volume.
func exclusive(v *corev1.PersistentVolume) bool {
	return !slices.Contains(v.Spec.AccessModes, corev1.ReadWriteMany) && !slices.Contains(v.Spec.AccessModes, corev1.ReadOnlyMany)
}

// multiAttach says who has the volume. Pods of other namespaces are not named.
func multiAttach(used *use, holders []*corev1.Pod) string {
	message := fmt.Sprintf("Multi-Attach error for volume %q ", used.volume.Name)
	if len(holders) == 0 {
		return message + "Volume is already exclusively attached to one node and can't be attached to another"
	}
	var names []string
	foreign := 0
	for _, pod := range holders {
		if pod.Namespace == used.pods[0].Namespace {
			names = append(names, pod.Name)
		} else {
			foreign++
		}
	}
	switch {
	case len(names) == 0:
		return message + fmt.Sprintf("Volume is already used by %d pod(s) in different namespaces", foreign)
	case foreign > 0:
		return message + fmt.Sprintf("Volume is already used by pod(s) %s and %d pod(s) in different namespaces", strings.Join(names, ", "), foreign)
	}
	return message + "Volume is already used by pod(s) " + strings.Join(names, ", ")
}

// attachment asks the volume's driver to attach it to the node.
func attachment(v *corev1.PersistentVolume, node string) *storagev1.VolumeAttachment {
	a := &storagev1.VolumeAttachment{Spec: storagev1.VolumeAttachmentSpec{
		Attacher: v.Spec.CSI.Driver, NodeName: node,
		Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &v.Name},
	}}
	a.Name = fmt.Sprintf("csi-%x", sha256.Sum256([]byte(v.Spec.CSI.VolumeHandle+v.Spec.CSI.Driver+node)))
	return a
}

// uniqueName is the name of a volume in a node's status.
func uniqueName(v *corev1.PersistentVolume) corev1.UniqueVolumeName {
	return corev1.UniqueVolumeName("kubernetes.io/csi/" + v.Spec.CSI.Driver + "^" + v.Spec.CSI.VolumeHandle)
}

// done reports whether a pod needs its volumes no more: it has finished, or it
// is being deleted and none of its containers runs.
func done(pod *corev1.Pod) bool {
	if children.Finished(pod) {
		return true
	}
	return pod.DeletionTimestamp != nil && len(pod.Status.ContainerStatuses) > 0 &&
		!slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Terminated == nil && s.State.Waiting == nil })
}
