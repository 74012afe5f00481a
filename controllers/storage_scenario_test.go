package controllers_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func decode[T any](c *cluster, manifest string) *T {
	c.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict([]byte(manifest), object); err != nil {
		c.Fatal(err)
	}
	return object
}

func (c *cluster) createClaim(manifest string) {
	c.Helper()
	must(c.T)(c.client.CoreV1().PersistentVolumeClaims("default").Create(c.Context(), decode[corev1.PersistentVolumeClaim](c, manifest), metav1.CreateOptions{}))
}

func (c *cluster) createVolume(manifest string) {
	c.Helper()
	must(c.T)(c.client.CoreV1().PersistentVolumes().Create(c.Context(), decode[corev1.PersistentVolume](c, manifest), metav1.CreateOptions{}))
}

func (c *cluster) createPod(manifest string) {
	c.Helper()
	must(c.T)(c.client.CoreV1().Pods("default").Create(c.Context(), decode[corev1.Pod](c, manifest), metav1.CreateOptions{}))
}

// claim returns nil if there is none.
func (c *cluster) claim(name string) *corev1.PersistentVolumeClaim {
	c.Helper()
	claim, err := c.client.CoreV1().PersistentVolumeClaims("default").Get(c.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		c.Fatal(err)
	}
	return claim
}

// reasons are those of the events of an object.
func (c *cluster) reasons(name string) []string {
	c.Helper()
	events, err := c.client.CoreV1().Events("").List(c.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
	if err != nil {
		c.Fatal(err)
	}
	var reasons []string
	for _, event := range events.Items {
		reasons = append(reasons, event.Reason)
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

func (c *cluster) attachments() []storagev1.VolumeAttachment {
	c.Helper()
	list, err := c.client.StorageV1().VolumeAttachments().List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return list.Items
}

const (
	plainClaim = `{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`
	dataPod    = `{metadata: {name: p}, spec: {containers: [{name: c, image: nginx}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}`
)

// A claim that names no class lives through everything: it gets a volume, is
// attached, grows, is kept while a pod uses it, and takes its volume with it.
func TestLifeOfAClaim(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		c.createClaim(plainClaim)
		c.eventually("the claim is bound", func() bool { return c.claim("data").Status.Phase == corev1.ClaimBound })
		if class := *c.claim("data").Spec.StorageClassName; class != "standard" {
			t.Errorf("its class is %s", class)
		}
		c.createPod(dataPod)
		c.settle(time.Minute)
		attachments := c.attachments()
		if len(attachments) != 1 || !attachments[0].Status.Attached {
			t.Fatalf("attachments are %+v", attachments)
		}
		node, err := c.client.CoreV1().Nodes().Get(c.Context(), attachments[0].Spec.NodeName, metav1.GetOptions{})
		if err != nil || len(node.Status.VolumesAttached) != 1 {
			t.Errorf("its node lists %v, %v", node.Status.VolumesAttached, err)
		}
		if reasons := c.reasons("p"); !slices.Contains(reasons, "SuccessfulAttachVolume") {
			t.Errorf("events of the pod: %v", reasons)
		}

		must(t)(c.client.CoreV1().PersistentVolumeClaims("default").Patch(c.Context(), "data", "application/merge-patch+json",
			[]byte(`{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}`), metav1.PatchOptions{}))
		c.settle(time.Minute)
		if size := c.claim("data").Status.Capacity[corev1.ResourceStorage]; size.String() != "3Gi" {
			t.Errorf("it grew to %s", size.String())
		}
		want := []string{"ExternalExpanding", "ExternalProvisioning", "Provisioning", "ProvisioningSucceeded", "Resizing", "VolumeResizeSuccessful"}
		got := slices.DeleteFunc(c.reasons("data"), func(reason string) bool { return reason == "ProvisioningFailed" || reason == "FailedBinding" }) // before the class was there
		if !slices.Equal(got, want) {
			t.Errorf("events of the claim: %v", got)
		}

		if err := c.client.CoreV1().PersistentVolumeClaims("default").Delete(c.Context(), "data", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.settle(time.Minute)
		if claim := c.claim("data"); claim == nil || claim.DeletionTimestamp == nil {
			t.Fatalf("while the pod runs, the claim is %v", claim)
		}
		if err := c.client.CoreV1().Pods("default").Delete(c.Context(), "p", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.eventually("the claim is gone", func() bool { return c.claim("data") == nil })
		c.settle(time.Minute)
		volumes, err := c.client.CoreV1().PersistentVolumes().List(c.Context(), metav1.ListOptions{})
		if err != nil || len(volumes.Items)+len(c.attachments()) != 0 {
			t.Errorf("left are %d volumes and %d attachments, %v", len(volumes.Items), len(c.attachments()), err)
		}
	})
}

func TestEphemeralVolumeGoesWithItsPod(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		c.createPod(`{metadata: {name: p}, spec: {containers: [{name: c, image: nginx}], volumes: [{name: v, ephemeral: {volumeClaimTemplate:
			{metadata: {labels: {a: b}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]}}`)
		c.eventually("the pod runs", func() bool { return c.pods("default")[0].Status.Phase == corev1.PodRunning })
		if claim := c.claim("p-v"); claim.Labels["a"] != "b" || !metav1.IsControlledBy(claim, &c.pods("default")[0]) {
			t.Errorf("claim is %+v", claim.ObjectMeta)
		}
		if err := c.client.CoreV1().Pods("default").Delete(c.Context(), "p", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.eventually("the claim is gone", func() bool { return c.claim("p-v") == nil })
	})
}

func TestVolumesAreNotSharedBetweenNodes(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		c.createClaim(plainClaim)
		c.createPod(dataPod)
		c.settle(time.Minute)
		first := c.pods("default")[0].Spec.NodeName
		other := map[string]string{"node-1": "node-2", "node-2": "node-3", "node-3": "node-1"}[first]
		c.createPod(`{metadata: {name: q}, spec: {nodeName: ` + other + `, containers: [{name: c, image: nginx}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}`)
		c.settle(time.Minute)
		if a := c.attachments(); len(a) != 1 || a[0].Spec.NodeName != first {
			t.Fatalf("attachments are %v", a)
		}
		if reasons := c.reasons("q"); !slices.Contains(reasons, "FailedAttachVolume") {
			t.Errorf("events of the second pod: %v", reasons)
		}
		if err := c.client.CoreV1().Pods("default").Delete(c.Context(), "p", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.eventually("the second node has it", func() bool {
			a := c.attachments()
			return len(a) == 1 && a[0].Spec.NodeName == other && a[0].Status.Attached
		})
	})
}

func TestReclaimPolicies(t *testing.T) {
	for _, test := range []struct {
		policy, source string
		phase          corev1.PersistentVolumePhase // "" if gone
		reason         string
	}{
		{"Retain", "hostPath: {path: /data}", corev1.VolumeReleased, ""},
		{"Delete", "hostPath: {path: /tmp/data}", "", ""},
		{"Delete", "hostPath: {path: /data}", corev1.VolumeFailed, "VolumeFailedDelete"},
		{"Delete", "nfs: {server: s, path: /p}", corev1.VolumeFailed, "VolumeFailedDelete"},
		{"Recycle", "nfs: {server: s, path: /p}", corev1.VolumeAvailable, "VolumeRecycled"},
		{"Recycle", "csi: {driver: d, volumeHandle: h}", corev1.VolumeFailed, "VolumeFailedRecycle"},
	} {
		t.Run(test.policy+" "+test.source[:3], func(t *testing.T) {
			inCluster(t, three, func(c *cluster) {
				c.createVolume(`{metadata: {name: pv}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, storageClassName: x,
					persistentVolumeReclaimPolicy: ` + test.policy + `, ` + test.source + `}}`)
				c.createClaim(`{metadata: {name: data}, spec: {storageClassName: x, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
				c.eventually("the claim is bound", func() bool { return c.claim("data").Status.Phase == corev1.ClaimBound })
				if err := c.client.CoreV1().PersistentVolumeClaims("default").Delete(c.Context(), "data", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				c.settle(time.Minute)
				v, err := c.client.CoreV1().PersistentVolumes().Get(c.Context(), "pv", metav1.GetOptions{})
				if test.phase == "" {
					if !apierrors.IsNotFound(err) {
						t.Errorf("the volume is %v, %v", v.Status, err)
					}
					return
				}
				if err != nil || v.Status.Phase != test.phase {
					t.Errorf("the volume is %v, %v", v.Status, err)
				}
				if reasons := c.reasons("pv"); test.reason != "" && !slices.Contains(reasons, test.reason) {
					t.Errorf("its events: %v", reasons)
				}
			})
		})
	}
}
