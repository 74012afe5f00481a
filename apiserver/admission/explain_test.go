package admission

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/trace"
)

// replacer puts another object in the place of each, as a webhook does.
type replacer struct{ by func(runtime.Object) }

func (replacer) Name() string { return "Replacer" }

func (r replacer) Admit(_ context.Context, a *Attributes) error {
	obj := a.Object.DeepCopyObject()
	r.by(obj)
	return a.Replace("hook.example.com", obj)
}

func TestExplain(t *testing.T) {
	for _, test := range []struct {
		name    string
		obj     runtime.Object
		gvr     string
		plugin  Plugin
		explain bool
		want    []trace.Change
	}{
		{name: "a plugin of ours", obj: &corev1.Node{}, gvr: "nodes", plugin: &TaintNodesByCondition{}, explain: true,
			want: []trace.Change{{By: "TaintNodesByCondition", Field: "spec.taints", To: `[{"effect":"NoSchedule","key":"node.kubernetes.io/not-ready"}]`}}},
		{name: "nobody asks", obj: &corev1.Node{}, gvr: "nodes", plugin: &TaintNodesByCondition{}},
		{name: "a webhook on what is compared", obj: &corev1.Node{}, gvr: "nodes", explain: true,
			plugin: replacer{func(obj runtime.Object) { obj.(*corev1.Node).Spec.PodCIDR = "10.0.0.0/24" }},
			want:   []trace.Change{{By: "Replacer hook.example.com", Field: "spec.podCIDR", To: `"10.0.0.0/24"`}}},
		{name: "a webhook on another kind", obj: &corev1.ConfigMap{Data: map[string]string{"a": "1", "b": "2"}}, gvr: "configmaps", explain: true,
			plugin: replacer{func(obj runtime.Object) { obj.(*corev1.ConfigMap).Data = map[string]string{"a": "3"} }},
			want: []trace.Change{
				{By: "Replacer hook.example.com", Field: "data.a", From: `"1"`, To: `"3"`},
				{By: "Replacer hook.example.com", Field: "data.b", From: `"2"`}}},
		{name: "values of secrets stay secret", obj: &corev1.Secret{Data: map[string][]byte{"key": []byte("x")}}, gvr: "secrets", explain: true,
			plugin: replacer{func(obj runtime.Object) { obj.(*corev1.Secret).Data["key"] = []byte("marked") }},
			want:   []trace.Change{{By: "Replacer hook.example.com", Field: "data.key", From: "(hidden)", To: "(hidden)"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &Attributes{Verb: Create, GVR: corev1.SchemeGroupVersion.WithResource(test.gvr), Object: test.obj}
			if test.explain {
				a.Explain()
			}
			if err := (&Chain{plugins: []Plugin{test.plugin}}).Admit(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(a.Changes(), test.want) {
				t.Errorf("changes %+v, want %+v", a.Changes(), test.want)
			}
		})
	}
}
