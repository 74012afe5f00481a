package fieldmanager

import (
	"bytes"
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// sparse returns shallow copies of two objects of one type without what is equal in
// both: top-level fields, and fields of those. Comparing the copies gives the same
// differences as comparing the objects, and costs what the differences cost.
// Managed fields, which are about the others, are left out.
func (m *Manager) sparse(a, b runtime.Object) (runtime.Object, runtime.Object) {
	if x, ok := a.(*unstructured.Unstructured); ok {
		y := b.(*unstructured.Unstructured)
		before, after := sparseMaps(x.Object, y.Object, 2)
		return &unstructured.Unstructured{Object: before}, &unstructured.Unstructured{Object: after}
	}
	x, y := copyOf(a), copyOf(b)
	m.sparseStructs(x.Elem(), y.Elem(), 2)
	return x.Interface().(runtime.Object), y.Interface().(runtime.Object)
}

func copyOf(obj runtime.Object) reflect.Value {
	from := reflect.ValueOf(obj).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	return to
}

// sparseStructs clears the fields that are equal in two structs.
func (m *Manager) sparseStructs(a, b reflect.Value, depth int) {
	for i := range a.NumField() {
		x, y := a.Field(i), b.Field(i)
		switch {
		case x.Type() == managedFieldsType:
			x.SetZero()
			y.SetZero()
		case x.Kind() == reflect.Struct && depth > 1:
			m.sparseStructs(x, y, depth-1)
		case m.sameValue(x, y):
			x.SetZero()
			y.SetZero()
		}
	}
}

// sameValue tells whether two values are the same to a client. A quantity is what it is
// written as, however it came to be: one that was left out is 0.
func (m *Manager) sameValue(a, b reflect.Value) bool {
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return true
	}
	if !m.hasQuantity(a.Type()) {
		return false
	}
	x, err := json.Marshal(a.Interface())
	if err != nil {
		return false
	}
	y, err := json.Marshal(b.Interface())
	return err == nil && bytes.Equal(x, y)
}

// hasQuantity tells whether there may be a quantity in a value of a type.
func (m *Manager) hasQuantity(t reflect.Type) bool {
	if known, ok := m.quantities.Load(t); ok {
		return known.(bool)
	}
	found := findQuantity(t, map[reflect.Type]bool{})
	m.quantities.Store(t, found)
	return found
}

func findQuantity(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == reflect.TypeFor[resource.Quantity]() {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return findQuantity(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if findQuantity(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

var managedFieldsType = reflect.TypeFor[[]metav1.ManagedFieldsEntry]()

// sparseMaps does to unstructured objects what sparseStructs does to others.
func sparseMaps(a, b map[string]any, depth int) (map[string]any, map[string]any) {
	before, after := map[string]any{}, map[string]any{}
	for k, x := range a {
		y, ok := b[k]
		mx, isMap := x.(map[string]any)
		my, bothMaps := y.(map[string]any)
		switch {
		case depth == 1 && k == "managedFields":
		case !ok:
			before[k] = x
		case isMap && bothMaps && depth > 1:
			before[k], after[k] = sparseMaps(mx, my, depth-1)
		case !reflect.DeepEqual(x, y):
			before[k], after[k] = x, y
		}
	}
	for k, y := range b {
		if _, ok := a[k]; !ok && !(depth == 1 && k == "managedFields") {
			after[k] = y
		}
	}
	return before, after
}
