package admission

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/trace"
)

const (
	changesShown = 32  // of one request
	valueShown   = 120 // bytes of one value
)

// changeable are the resources that built-in plugins change. Others are compared
// only when a webhook or a policy puts another object in the place of one.
var changeable = []schema.GroupResource{
	group("", "pods"), group("", "nodes"), group("", "persistentvolumes"), group("", "persistentvolumeclaims"),
	group("networking.k8s.io", "ingresses"), group("storage.k8s.io", "volumeattributesclasses"),
}

// Explain has the plugins' changes noted in Changes.
func (a *Attributes) Explain() { a.explains = true }

// Changes are what plugins changed, in order.
func (a *Attributes) Changes() []trace.Change { return a.changes }

// watched calls a mutator and notes what it changes. before is the object as the
// last one left it, which is copied only if it is needed.
func (a *Attributes) watched(name string, before *runtime.Object, admit func() error) error {
	if !a.explains || a.Object == nil || a.Subresource != "" || !slices.Contains(changeable, a.GVR.GroupResource()) {
		a.plugin = name
		return admit()
	}
	a.plugin = ""
	if *before == nil {
		*before = a.Object.DeepCopyObject()
	}
	if err := admit(); err != nil {
		return err
	}
	if reflect.DeepEqual(*before, a.Object) {
		return nil
	}
	by := name
	if a.by != "" {
		by += " " + a.by
		a.by = ""
	}
	a.note(by, *before, a.Object)
	*before = a.Object.DeepCopyObject()
	return nil
}

// note adds the differences between two objects to the changes.
func (a *Attributes) note(by string, before, after runtime.Object) {
	from, err := fieldsOf(before)
	if err != nil {
		return
	}
	to, err := fieldsOf(after)
	if err != nil {
		return
	}
	d := differences{by: by, isSecret: a.GVR.GroupResource() == corev1.Resource("secrets")}
	d.compare("", from, to)
	a.changes = append(a.changes, d.found[:min(len(d.found), changesShown-min(len(a.changes), changesShown))]...)
}

// fieldsOf is an object as maps and lists.
func fieldsOf(obj runtime.Object) (map[string]any, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return u.UnstructuredContent(), nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
}

// differences are what one plugin changed.
type differences struct {
	by       string
	isSecret bool // values are not to be shown
	found    []trace.Change
}

func (d *differences) compare(path string, from, to any) {
	if path == "metadata.managedFields" || reflect.DeepEqual(from, to) {
		return
	}
	switch before := from.(type) {
	case map[string]any:
		if after, ok := to.(map[string]any); ok {
			d.compareMaps(path, before, after)
			return
		}
	case []any:
		if after, ok := to.([]any); ok {
			for i := range max(len(before), len(after)) {
				d.compare(fmt.Sprintf("%s[%d]", path, i), at(before, i), at(after, i))
			}
			return
		}
	}
	d.found = append(d.found, trace.Change{By: d.by, Field: path, From: d.show(from), To: d.show(to)})
}

func (d *differences) compareMaps(path string, before, after map[string]any) {
	var keys []string
	for key := range before {
		keys = append(keys, key)
	}
	for key := range after {
		if _, known := before[key]; !known {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		child := key
		if path != "" {
			child = path + "." + key
		}
		d.compare(child, before[key], after[key])
	}
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// show is a value in short; "" for none.
func (d *differences) show(v any) string {
	switch {
	case v == nil:
		return ""
	case d.isSecret:
		return "(hidden)"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(err)
	}
	if len(text) > valueShown {
		return string(text[:valueShown]) + "…"
	}
	return string(text)
}
