package attachdetach

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func disk(modes ...corev1.PersistentVolumeAccessMode) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv"},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:            modes,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h"}},
		},
	}
}

func attached(v *corev1.PersistentVolume, age time.Duration, status storagev1.VolumeAttachmentStatus) []held {
	a := attachment(v, "n")
	a.CreationTimestamp, a.Status = metav1.NewTime(now.Add(-age)), status
	return []held{{a, v}}
}

func TestDecide(t *testing.T) {
	const name = corev1.UniqueVolumeName("kubernetes.io/csi/d^h")
	pod := func(namespace, name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	node := func(status corev1.NodeStatus, taints ...corev1.Taint) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: status, Spec: corev1.NodeSpec{Taints: taints}}
	}
	busy := corev1.NodeStatus{VolumesInUse: []corev1.UniqueVolumeName{name}}
	lost := func(ago time.Duration) corev1.NodeStatus {
		return corev1.NodeStatus{VolumesInUse: busy.VolumesInUse, Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(now.Add(-ago))},
		}}
	}
	done := storagev1.VolumeAttachmentStatus{Attached: true}
	once, many := disk(corev1.ReadWriteOnce), disk(corev1.ReadWriteMany)
	for title, test := range map[string]struct {
		node                     *corev1.Node
		used                     *corev1.PersistentVolume // by pod ns/p, nil if by none
		have                     []held
		elsewhere                bool
		users                    []*corev1.Pod // on the other node
		attach, detach, attached int
		event                    string
		again                    time.Duration
	}{
		"nothing":                {node: node(busy)},
		"to be attached":         {node: node(busy), used: once, attach: 1},
		"to many nodes":          {node: node(busy), used: many, elsewhere: true, attach: 1},
		"another node has it":    {node: node(busy), used: once, elsewhere: true, event: `Multi-Attach error for volume "pv" Volume is already exclusively attached to one node and can't be attached to another`},
		"another pod has it":     {node: node(busy), used: once, elsewhere: true, users: []*corev1.Pod{pod("ns", "q")}, event: `Multi-Attach error for volume "pv" Volume is already used by pod(s) q`},
		"another namespace's":    {node: node(busy), used: once, elsewhere: true, users: []*corev1.Pod{pod("m", "q")}, event: `Multi-Attach error for volume "pv" Volume is already used by 1 pod(s) in different namespaces`},
		"being attached":         {node: node(busy), used: once, have: attached(once, time.Minute, storagev1.VolumeAttachmentStatus{}), again: time.Minute},
		"not answered":           {node: node(busy), used: once, have: attached(once, 3*time.Minute, storagev1.VolumeAttachmentStatus{}), again: 2 * time.Minute, event: `AttachVolume.Attach failed for volume "pv" : timed out waiting for external-attacher of d CSI driver to attach volume h`},
		"failed":                 {node: node(busy), used: once, have: attached(once, 0, storagev1.VolumeAttachmentStatus{AttachError: &storagev1.VolumeError{Message: "full"}}), event: `AttachVolume.Attach failed for volume "pv" : full`},
		"just attached":          {node: node(busy), used: once, have: attached(once, 0, done), attached: 1, event: `AttachVolume.Attach succeeded for volume "pv" `},
		"attached":               {node: node(corev1.NodeStatus{VolumesAttached: []corev1.AttachedVolume{{Name: name}}}), used: once, have: attached(once, 0, done), attached: 1},
		"to be detached":         {node: node(corev1.NodeStatus{}), have: attached(once, 0, done), detach: 1},
		"not yet unmounted":      {node: node(busy), have: attached(once, 0, done), attached: 1, again: unmountTimeout},
		"node lost a moment ago": {node: node(lost(time.Minute)), have: attached(once, 0, done), attached: 1, again: unmountTimeout},
		"node lost for long":     {node: node(lost(time.Hour)), have: attached(once, 0, done), detach: 1},
		"node out of service":    {node: node(busy, corev1.Taint{Key: corev1.TaintNodeOutOfService}), have: attached(once, 0, done), detach: 1},
		"node gone":              {have: attached(once, 0, done), detach: 1},
		"volume gone":            {node: node(busy), have: []held{{attachment(once, "n"), nil}}, detach: 1},
	} {
		t.Run(title, func(t *testing.T) {
			wanted := map[string]*use{}
			if test.used != nil {
				wanted["pv"] = &use{test.used, []*corev1.Pod{pod("ns", "p")}}
			}
			p := decide(test.node, "n", wanted, test.have, func(*corev1.PersistentVolume, string) (bool, []*corev1.Pod) {
				return test.elsewhere, test.users
			}, now)
			if len(p.attach) != test.attach || len(p.detach) != test.detach || len(p.attached) != test.attached || p.again != test.again {
				t.Errorf("decided on %+v", p)
			}
			event := ""
			for _, e := range p.events {
				event += e.message
			}
			if event != test.event {
				t.Errorf("told %q", event)
			}
		})
	}
}
