package openapi

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// mergeRules tell how lists and maps merge and what fields default to. They come
// from the schema that client-go's apply configurations carry: the only compiled
// place that keeps the markers in the comments of the API's types.
type mergeRules struct{ types *smd.Schema }

func newMergeRules() *mergeRules {
	pod := &corev1.Pod{}
	pod.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	// Any typed object leads to the schema, which is one for all types.
	typed, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(pod)
	if err != nil {
		return &mergeRules{types: &smd.Schema{}}
	}
	return &mergeRules{types: typed.Schema()}
}

func (m *mergeRules) find(name string) *smd.Map {
	if t, ok := m.types.FindNamedType(name); ok {
		return t.Map
	}
	return nil
}

// describe adds what is known of a type.
func (m *mergeRules) describe(s *spec.Schema, name string) {
	if t := m.find(name); t != nil && t.ElementRelationship == smd.Atomic {
		s.AddExtension(extensionMapType, "atomic")
	}
}

// describeField adds what is known of a field.
func (m *mergeRules) describeField(s *spec.Schema, name, key string) {
	t := m.find(name)
	if t == nil {
		return
	}
	f, ok := t.FindField(key)
	if !ok {
		return
	}
	if f.Default != nil {
		s.Default = f.Default
	}
	if r := f.Type.ElementRelationship; r != nil && f.Type.NamedType != nil {
		s.AddExtension(extensionMapType, map[smd.ElementRelationship]string{smd.Atomic: "atomic", smd.Separable: "granular"}[*r])
	}
	if in := f.Type.Inlined; in.Map != nil && in.Map.ElementRelationship == smd.Atomic {
		s.AddExtension(extensionMapType, "atomic")
	}
	if l := f.Type.Inlined.List; l != nil {
		describeList(s, l)
	}
}

func describeList(s *spec.Schema, l *smd.List) {
	switch {
	case l.ElementRelationship != smd.Associative:
		s.AddExtension(extensionListType, "atomic")
	case len(l.Keys) == 0:
		s.AddExtension(extensionListType, "set")
	default:
		keys := make([]any, len(l.Keys))
		for i, k := range l.Keys {
			keys[i] = k
		}
		s.AddExtension(extensionListType, "map")
		s.AddExtension(extensionListMapKeys, keys)
	}
}
