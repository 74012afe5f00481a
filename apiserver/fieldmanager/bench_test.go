package fieldmanager

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// sameVersion converts nothing.
type sameVersion struct{}

func (sameVersion) Convert(_, _, _ any) error { return nil }

func (sameVersion) ConvertToVersion(obj runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return obj, nil
}

func (sameVersion) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func newManager(t testing.TB, gvk schema.GroupVersionKind) *Manager {
	scheme := kinds.Scheme()
	types, err := Builtin(scheme)()
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Config{
		Kind: gvk, Types: types, Sets: &Sets{}, Convertor: sameVersion{}, Default: func(runtime.Object) {},
		New: func() runtime.Object {
			obj, err := scheme.New(gvk)
			if err != nil {
				t.Fatal(err)
			}
			return obj
		},
		Now: func() metav1.Time { return metav1.Unix(1e9, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func readPod(t testing.TB) *corev1.Pod {
	data, err := os.ReadFile("testdata/pod.json")
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(data, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// The cost of managed fields: of a 1 KiB ConfigMap, and of a pod as a ReplicaSet
// makes them and a kubelet reports on them.
func BenchmarkUpdate(b *testing.B) {
	write := func(b *testing.B, m *Manager, live, obj runtime.Object, manager string) {
		b.Helper()
		if err := m.Update(live, obj, manager); err != nil {
			b.Fatal(err)
		}
	}
	maps := newManager(b, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	before := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u"}, Data: map[string]string{"k": strings.Repeat("x", 1000)}}
	b.Run("create/configmap", func(b *testing.B) {
		for b.Loop() {
			before.ManagedFields = nil
			write(b, maps, maps.Empty(), before, "curl")
		}
	})
	after := before.DeepCopy()
	after.Data["k"] = "y"
	b.Run("update/configmap", func(b *testing.B) {
		for b.Loop() {
			write(b, maps, before, after, "curl")
		}
	})
	pods := newManager(b, corev1.SchemeGroupVersion.WithKind("Pod"))
	pod := readPod(b)
	b.Run("create/pod", func(b *testing.B) {
		for b.Loop() {
			pod.ManagedFields = nil
			write(b, pods, pods.Empty(), pod, "kube-controller-manager")
		}
	})
	running := pod.DeepCopy()
	running.Status.Phase = corev1.PodRunning
	running.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	b.Run("update/pod", func(b *testing.B) {
		for b.Loop() {
			write(b, pods, pod, running, "kubelet")
		}
	})
}
