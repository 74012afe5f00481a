package fieldmanager

import (
	"encoding/json"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// maxShapes is how many of the shapes that were created last a manager keeps.
const maxShapes = 4

// shapes keeps which fields new objects had. Which they have follows from the shape of
// an object: from what is empty in it and what isn't, from the keys of its maps and
// from its lists. The pods of a ReplicaSet are of one shape, and so are the events of
// a controller; looking whether an object is costs a tenth of finding its fields.
type shapes struct {
	mu    sync.Mutex
	known []shape // the one found last comes last
}

type shape struct {
	of  runtime.Object
	set *fieldpath.Set
}

// find returns the fields of an object of a known shape, or nil.
func (s *shapes) find(obj runtime.Object) *fieldpath.Set {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	for i := len(known) - 1; i >= 0; i-- {
		if sameShape(reflect.ValueOf(known[i].of), reflect.ValueOf(obj)) {
			return known[i].set
		}
	}
	return nil
}

// keep remembers the fields of an object.
func (s *shapes) keep(obj runtime.Object, set *fieldpath.Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := max(0, len(s.known)-maxShapes+1)
	next := make([]shape, 0, maxShapes) // readers have the old one
	s.known = append(append(next, s.known[from:]...), shape{obj.DeepCopyObject(), set})
}

// nameless returns a shallow copy of a new object without the metadata that nobody owns.
func nameless(obj runtime.Object) (runtime.Object, error) {
	out := copyOf(obj).Interface().(runtime.Object)
	m, err := meta.Accessor(out)
	if err != nil {
		return nil, err
	}
	m.SetName("")
	m.SetNamespace("")
	m.SetUID("")
	m.SetResourceVersion("")
	m.SetGeneration(0)
	m.SetCreationTimestamp(metav1.Time{})
	m.SetManagedFields(nil)
	return out, nil
}

// sameShape tells whether two values have the same fields. Lists have if they are equal.
func sameShape(a, b reflect.Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case reflect.Pointer:
		return a.IsNil() == b.IsNil() && (a.IsNil() || sameShape(a.Elem(), b.Elem()))
	case reflect.Struct:
		return sameStruct(a, b)
	case reflect.Map:
		return sameKeys(a, b)
	case reflect.Slice, reflect.Interface:
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
	return a.IsZero() == b.IsZero()
}

func sameStruct(a, b reflect.Value) bool {
	switch x := a.Addr().Interface().(type) {
	case interface{ IsZero() bool }: // a time or a quantity
		return x.IsZero() == b.Addr().Interface().(interface{ IsZero() bool }).IsZero()
	case json.Unmarshaler: // a value, whatever its fields
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
	for i := range a.NumField() {
		if !sameShape(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

func sameKeys(a, b reflect.Value) bool {
	if a.Len() != b.Len() || a.IsNil() != b.IsNil() {
		return false
	}
	for keys := a.MapRange(); keys.Next(); {
		other := b.MapIndex(keys.Key())
		if !other.IsValid() {
			return false
		}
		if x := keys.Value(); x.Kind() == reflect.Struct {
			if !reflect.DeepEqual(x.Interface(), other.Interface()) {
				return false
			}
		} else if !sameShape(x, other) {
			return false
		}
	}
	return true
}
