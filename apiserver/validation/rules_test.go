package validation_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// written reads an object as a client writes it and completes its metadata as a
// server does.
func written[T any, P interface {
	*T
	runtime.Object
	metav1.Object
}](t *testing.T, namespaced bool, text string) P {
	t.Helper()
	obj := P(new(T))
	if err := yaml.UnmarshalStrict([]byte(text), obj); err != nil {
		t.Fatal(err)
	}
	if obj.GetName() == "" {
		obj.SetName("n")
	}
	if namespaced {
		obj.SetNamespace("ns")
	}
	obj.SetUID("0b9e3a4c-0000-4000-8000-000000000000")
	return obj
}

// changed is a rule's answer to a change of an object: a new object's errors
// when it starts from nothing.
type changed struct {
	name     string
	old, new string   // YAML; old is absent on create
	want     []string // how the errors begin
}

// check asks the rule about each case, all of a kind.
func check[T any, P interface {
	*T
	runtime.Object
	metav1.Object
}](t *testing.T, namespaced bool, rule func(obj, old P) field.ErrorList, prepare func(P), cases []changed) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			obj := written[T, P](t, namespaced, c.new)
			prepare(obj)
			var old P
			if c.old != "" {
				old = written[T, P](t, namespaced, c.old)
				prepare(old)
				old.SetResourceVersion("1")
				obj.SetResourceVersion("1")
			}
			var got []string
			for _, e := range rule(obj, old) {
				got = append(got, e.Error())
			}
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}
