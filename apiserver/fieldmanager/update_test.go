package fieldmanager

import (
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/randfill"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// Random objects of each kind are written by turns by three managers. The short way
// gives the entries that the library's gives, from a Go type and from maps.
func TestUpdateLikeLibrary(t *testing.T) {
	scheme := kinds.Scheme()
	fill := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, randomFuncs), rand.NewSource(1), serializer.NewCodecFactory(scheme))
	for _, k := range kinds.Builtin() {
		if !k.Stored() {
			continue
		}
		t.Run(k.GroupVersionKind().String(), func(t *testing.T) {
			plain := newManager(t, k.GroupVersionKind())
			ofMaps := plain.Config
			ofMaps.Types = managedfields.NewDeducedTypeConverter()
			ofMap, err := New(ofMaps)
			if err != nil {
				t.Fatal(err)
			}
			live, liveMap := plain.Empty(), runtime.Object(asMap(t, plain.Empty()))
			for i := range 6 {
				manager := fmt.Sprint("manager", i%3)
				obj := plain.Empty()
				fill.Fill(obj)
				keepSome(live, obj, i)
				accessor, err := meta.Accessor(obj)
				if err != nil {
					t.Fatal(err)
				}
				accessor.SetUID("u")
				accessor.SetManagedFields(nil)
				objMap := asMap(t, obj)
				live = bothWays(t, plain, live, obj, manager)
				liveMap = bothWays(t, ofMap, liveMap, objMap, manager)
			}
		})
	}
}

// Pods of one shape have the same fields, those of nearly the same shape have others.
func TestCreateByShape(t *testing.T) {
	m := newManager(t, corev1.SchemeGroupVersion.WithKind("Pod"))
	zero, later := int32(0), metav1.Unix(5, 0)
	for _, change := range []func(*corev1.Pod){
		func(*corev1.Pod) {},
		func(p *corev1.Pod) { p.Name, p.Spec.NodeName, p.UID, p.Labels["app"] = "other", "n", "u", "b" },
		func(p *corev1.Pod) { p.Spec.NodeName = "m" },
		func(p *corev1.Pod) { p.Spec.NodeName = "" },
		func(p *corev1.Pod) { p.Labels["more"] = "" },
		func(p *corev1.Pod) { p.Labels = nil },
		func(p *corev1.Pod) { p.Labels = map[string]string{} },
		func(p *corev1.Pod) { p.Spec.Containers[0].Name = "other" },
		func(p *corev1.Pod) { p.Spec.Containers = nil },
		func(p *corev1.Pod) { p.Spec.Priority = nil },
		func(p *corev1.Pod) { p.Spec.Priority = &zero },
		func(p *corev1.Pod) { p.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("1")} },
		func(p *corev1.Pod) { p.Spec.Overhead = corev1.ResourceList{"memory": resource.MustParse("1")} },
		func(p *corev1.Pod) { p.Status.StartTime = &later },
		func(p *corev1.Pod) { p.Spec.SecurityContext = nil },
		func(p *corev1.Pod) { p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}} },
		func(p *corev1.Pod) { p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}} },
	} {
		pod := readPod(t)
		change(pod)
		bothWays(t, m, m.Empty(), pod.DeepCopy(), "a")
		bothWays(t, m, m.Empty(), pod, "b") // now of a known shape
	}
	if n := len(m.shapes.known); n != maxShapes {
		t.Errorf("%d shapes are kept, want %d", n, maxShapes)
	}
}

// A quantity that was left out is the 0 that it is written as.
func TestQuantities(t *testing.T) {
	m := newManager(t, corev1.SchemeGroupVersion.WithKind("Pod"))
	live, obj := readPod(t), readPod(t)
	live.UID = "u"
	live.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "a", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:hostname":{}}}`),
	}}
	for pod, divisor := range map[*corev1.Pod]resource.Quantity{live: {}, obj: resource.MustParse("0")} {
		source := &pod.Spec.Volumes[0].Projected.Sources[0]
		source.DownwardAPI = &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
			Path: "cpu", ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu", Divisor: divisor},
		}}}
	}
	if err := m.Update(live, obj, "b"); err != nil {
		t.Fatal(err)
	}
	if len(obj.ManagedFields) != 1 {
		t.Errorf("b wrote what was there and owns %v", obj.ManagedFields)
	}
}

// The oldest writers are merged into one, which has the time of the younger of them.
func TestManyUpdaters(t *testing.T) {
	config := newManager(t, corev1.SchemeGroupVersion.WithKind("ConfigMap")).Config
	now := int64(1e9)
	config.Now = func() metav1.Time { return metav1.Unix(now, 0) }
	m, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	live := m.Empty().(*corev1.ConfigMap)
	for i := range maxUpdaters + 2 {
		obj := live.DeepCopy()
		obj.UID, obj.Data = "u", maps.Clone(live.Data)
		if obj.Data == nil {
			obj.Data = map[string]string{}
		}
		obj.Data[fmt.Sprint(i)] = "x"
		now += 60
		if err := m.Update(live, obj, fmt.Sprint("m", i)); err != nil {
			t.Fatal(err)
		}
		live = obj
	}
	if n := len(live.ManagedFields); n != maxUpdaters {
		t.Fatalf("%d entries, want %d", n, maxUpdaters)
	}
	for i, e := range live.ManagedFields {
		want := fmt.Sprint("m", i+2)
		if i == 0 {
			want = "ancient-changes"
		}
		if at := int64(1e9) + 60*int64(i+3); e.Manager != want || e.Time.Unix() != at {
			t.Errorf("entry %d is of %s at %d, want %s at %d", i, e.Manager, e.Time.Unix(), want, at)
		}
	}
}

// A manager and the sets that it keeps serve many writes at once.
func TestConcurrentUpdates(t *testing.T) {
	m := newManager(t, corev1.SchemeGroupVersion.WithKind("Pod"))
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			pod := readPod(t)
			if err := m.Update(m.Empty(), pod, "a"); err != nil {
				t.Error(err)
			}
			pod.UID = "u"
			for j := range 20 {
				next := pod.DeepCopy()
				next.Labels["n"], next.Status.Phase = fmt.Sprint(j), corev1.PodPhase(fmt.Sprint(j))
				if err := m.Update(pod, next, fmt.Sprint("b", i%3)); err != nil || len(next.ManagedFields) != 2 {
					t.Errorf("%d entries, %v", len(next.ManagedFields), err)
				}
				pod = next
			}
		})
	}
	writers.Wait()
}

// bothWays writes obj the short way and by the library, and returns it.
func bothWays(t *testing.T, m *Manager, live, obj runtime.Object, manager string) runtime.Object {
	t.Helper()
	want := obj.DeepCopyObject()
	want.GetObjectKind().SetGroupVersionKind(m.Kind)
	if err := m.update(live, want, manager); err != nil {
		t.Fatal(err)
	}
	before := live.DeepCopyObject()
	if err := m.Update(live, obj, manager); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(live, before) {
		t.Error("the live object was changed")
	}
	got, other := entriesOf(t, obj), entriesOf(t, want)
	if len(got) != len(other) {
		t.Fatalf("%d entries, the library has %d:\n%v\n%v", len(got), len(other), got, other)
	}
	for i := range got {
		if got[i] != other[i] {
			t.Fatalf("entry %d:\n%s\nthe library's:\n%s", i, got[i], other[i])
		}
	}
	return obj
}

// entriesOf prints the entries without their times.
func entriesOf(t *testing.T, obj runtime.Object) []string {
	t.Helper()
	accessor, err := meta.Accessor(obj)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range accessor.GetManagedFields() {
		out = append(out, fmt.Sprint(e.Manager, e.Operation, e.APIVersion, e.Subresource, e.FieldsV1.GetRawString()))
	}
	return out
}

// keepSome gives obj some of live's fields, so that a write changes others alone.
func keepSome(live, obj runtime.Object, i int) {
	from, to := reflect.ValueOf(live).Elem(), reflect.ValueOf(obj).Elem()
	for f := range to.NumField() {
		if name := to.Type().Field(f).Name; name == "ObjectMeta" && i%2 == 1 || name == "Spec" && i%3 == 1 || name == "Status" && i%4 == 3 {
			to.Field(f).Set(from.Field(f))
		}
	}
}

func asMap(t *testing.T, obj runtime.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

func randomFuncs(serializer.CodecFactory) []any {
	return []any{
		func(r *runtime.RawExtension, c randfill.Continue) { r.Raw = fmt.Appendf(nil, `{"k":%d}`, c.Intn(3)) },
		func(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawBytes([]byte(`{}`)) },
		func(t *metav1.MicroTime, _ randfill.Continue) {},
	}
}
