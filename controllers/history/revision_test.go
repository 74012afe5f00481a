package history

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func nginx(version string) *corev1.PodTemplateSpec {
	grace := int64(30)
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "c", Image: "nginx:" + version, ImagePullPolicy: corev1.PullIfNotPresent,
				TerminationMessagePath: corev1.TerminationMessagePathDefault, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			}},
			RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst, SchedulerName: corev1.DefaultSchedulerName,
			TerminationGracePeriodSeconds: &grace, SecurityContext: &corev1.PodSecurityContext{},
		},
	}
}

// TestDataHash has the hashes that a real cluster gave to these templates.
func TestDataHash(t *testing.T) {
	for version, want := range map[string]string{"1.27": "6578754d74", "1.28": "68f6898675"} {
		data, err := Data(nginx(version))
		if err != nil {
			t.Fatal(err)
		}
		if got := DataHash(data, 0); got != want {
			t.Errorf("nginx:%s has hash %s, want %s\n%s", version, got, want, data)
		}
		if DataHash(data, 1) == want {
			t.Errorf("a collision of nginx:%s changes nothing", version)
		}
	}
}

func TestTemplateComesBack(t *testing.T) {
	data, err := Data(nginx("1.27"))
	if err != nil {
		t.Fatal(err)
	}
	template, err := Template(&appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: data}})
	if err != nil || !equality.Semantic.DeepEqual(template, nginx("1.27")) {
		t.Errorf("template %+v, error %v", template, err)
	}
}

func revision(name string, number int64, data string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name}, Revision: number, Data: runtime.RawExtension{Raw: []byte(data)}}
}

func TestFind(t *testing.T) {
	sorted := []*appsv1.ControllerRevision{revision("c", 3, `{"a":1}`), revision("b", 2, `{"a": "\u003c"}`), revision("a", 1, `{"a":1}`)}
	Sort(sorted)
	if sorted[0].Name != "a" || sorted[2].Name != "c" || Next(sorted) != 4 || Next(nil) != 1 {
		t.Errorf("sorted %v, next %d", sorted, Next(sorted))
	}
	for data, want := range map[string]string{`{"a":1}`: "c", `{"a":"<"}`: "b", `{}`: ""} {
		found := Find(sorted, []byte(data))
		if (found == nil) != (want == "") || found != nil && found.Name != want {
			t.Errorf("%s is in %v, want %q", data, found, want)
		}
	}
}

func TestExpendable(t *testing.T) {
	sorted := []*appsv1.ControllerRevision{revision("a", 1, ""), revision("b", 2, ""), revision("c", 3, ""), revision("d", 4, "")}
	lives := func(name string) bool { return name == "a" || name == "d" }
	for limit, want := range map[int32]int{-1: 0, 0: 2, 1: 1, 2: 0, 10: 0} {
		if got := Expendable(sorted, &limit, lives); len(got) != want || want == 1 && got[0].Name != "b" {
			t.Errorf("limit %d: %v, want %d", limit, got, want)
		}
	}
}
