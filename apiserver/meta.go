package apiserver

import (
	"reflect"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// accessorOf returns an object's metadata; every kind served has it.
func accessorOf(obj runtime.Object) metav1.Object {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		panic(err) // a row of the table that is no API object
	}
	return accessor
}

func formatRevision(revision int64) string { return strconv.FormatInt(revision, 10) }

// copyPart copies a top-level field such as Status from one object to another.
func copyPart(to, from runtime.Object, name string) {
	if u, ok := to.(*unstructured.Unstructured); ok {
		copyUnstructured(u, from.(*unstructured.Unstructured), name)
		return
	}
	dst, src := part(to, name), part(from, name)
	if dst.IsValid() && src.IsValid() {
		dst.Set(src)
	}
}

func copyUnstructured(to, from *unstructured.Unstructured, name string) {
	key := map[string]string{"Status": "status", "Spec": "spec"}[name]
	if v, ok := from.Object[key]; ok {
		to.Object[key] = runtime.DeepCopyJSONValue(v)
	} else {
		delete(to.Object, key)
	}
}

// clearPart zeroes a top-level field.
func clearPart(obj runtime.Object, name string) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		copyUnstructured(u, &unstructured.Unstructured{}, name)
		return
	}
	if v := part(obj, name); v.IsValid() {
		v.SetZero()
	}
}

func part(obj runtime.Object, name string) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName(name)
}

// sameSpec tells whether two objects have equal specs; kinds without one count
// everything but metadata and status.
func sameSpec(a, b runtime.Object) bool {
	if u, ok := a.(*unstructured.Unstructured); ok {
		x, y := u.DeepCopy().Object, b.(*unstructured.Unstructured).DeepCopy().Object
		for _, key := range []string{"metadata", "status", "kind", "apiVersion"} {
			delete(x, key)
			delete(y, key)
		}
		return equality.Semantic.DeepEqual(x, y)
	}
	if x, y := part(a, "Spec"), part(b, "Spec"); x.IsValid() {
		return equality.Semantic.DeepEqual(x.Interface(), y.Interface())
	}
	x, y := a.DeepCopyObject(), b.DeepCopyObject()
	part(x, "ObjectMeta").SetZero()
	part(y, "ObjectMeta").SetZero()
	return equality.Semantic.DeepEqual(x, y)
}
