package kinds

import "k8s.io/apimachinery/pkg/runtime"

// on makes a hook of a function on a kind's own Go type.
func on[T runtime.Object](f func(T)) func(runtime.Object) {
	return func(obj runtime.Object) { f(obj.(T)) }
}

// on2 makes a hook that also sees the old object: a nil pointer of the kind's type on create.
func on2[T runtime.Object](f func(obj, old T)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) { f(obj.(T), typed[T](old)) }
}

// asks is on2 for hooks that answer something: errors or warnings.
func asks[T runtime.Object, R any](f func(obj, old T) R) func(obj, old runtime.Object) R {
	return func(obj, old runtime.Object) R { return f(obj.(T), typed[T](old)) }
}

// typed turns a nil interface into a nil pointer.
func typed[T runtime.Object](obj runtime.Object) (t T) {
	if obj != nil {
		t = obj.(T)
	}
	return t
}
