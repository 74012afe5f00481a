package apiserver_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestNodeAuthorizer acts as a kubelet: it sees what its pods need, and its own node.
func TestNodeAuthorizer(t *testing.T) {
	config := &rest.Config{Host: startServer(t), QPS: -1}
	admin, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:node:node-1", Groups: []string{"system:nodes"}}
	kubelet, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for _, name := range []string{"used", "other"} {
		if _, err := admin.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range []string{"node-1", "node-2"} {
		if _, err := admin.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "on-" + node}, Spec: corev1.PodSpec{
			NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "nginx"}},
		}}
		if node == "node-1" {
			pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "used"}}}}
		}
		if _, err := admin.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	secret := func(name string) error {
		_, err := kubelet.CoreV1().Secrets("default").Get(ctx, name, metav1.GetOptions{})
		return err
	}
	pods := func(selector string) error {
		_, err := kubelet.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: selector})
		return err
	}
	node := func(name string) error {
		_, err := kubelet.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		return err
	}
	report := func(pod string) error {
		_, err := kubelet.CoreV1().Pods("default").Patch(ctx, pod, "application/merge-patch+json", []byte(`{"status": {"phase": "Running"}}`), metav1.PatchOptions{}, "status")
		return err
	}
	for _, test := range []struct {
		name    string
		err     error
		refusal string
	}{
		{"a Secret that its pod mounts", secret("used"), ""},
		{"another Secret", secret("other"), "no relationship found between node 'node-1' and this object"},
		{"its pods", pods("spec.nodeName=node-1"), ""},
		{"all pods", pods(""), "can only list/watch pods with spec.nodeName field selector"},
		{"its node", node("node-1"), ""},
		{"another node", node("node-2"), "node 'node-1' cannot read 'node-2', only its own Node object"},
		{"its pod's status", report("on-node-1"), ""},
		{"another's pod's status", report("on-node-2"), `node "node-1" can only update pod status for pods with spec.nodeName set to itself`},
	} {
		if test.refusal == "" && test.err != nil || test.refusal != "" && (!apierrors.IsForbidden(test.err) || !strings.HasSuffix(test.err.Error(), test.refusal)) {
			t.Errorf("%s: %v\nwant: …%s", test.name, test.err, test.refusal)
		}
	}
}
