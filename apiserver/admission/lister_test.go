package admission

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// objects is a cluster that a test wrote down. It is an Updater.
type objects struct {
	mu    sync.Mutex
	items []runtime.Object
}

func cluster(items ...runtime.Object) *objects { return &objects{items: items} }

func (o *objects) Get(_ context.Context, gvr schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := o.find(gvr, namespace, name); i >= 0 {
		return o.items[i], nil
	}
	return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
}

func (o *objects) List(_ context.Context, gvr schema.GroupVersionResource, namespace string) ([]runtime.Object, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var found []runtime.Object
	for _, item := range o.items {
		m, _ := meta.Accessor(item)
		if resourceOf(item) == gvr.Resource && (namespace == "" || m.GetNamespace() == namespace) {
			found = append(found, item)
		}
	}
	return found, nil
}

func (o *objects) UpdateStatus(_ context.Context, gvr schema.GroupVersionResource, namespace, name string, change func(runtime.Object) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := o.find(gvr, namespace, name)
	if i < 0 {
		return apierrors.NewNotFound(gvr.GroupResource(), name)
	}
	obj := o.items[i].DeepCopyObject()
	if err := change(obj); err != nil {
		return err
	}
	o.items[i] = obj
	return nil
}

func (o *objects) find(gvr schema.GroupVersionResource, namespace, name string) int {
	for i, item := range o.items {
		m, _ := meta.Accessor(item)
		if resourceOf(item) == gvr.Resource && m.GetNamespace() == namespace && m.GetName() == name {
			return i
		}
	}
	return -1
}

func resourceOf(obj runtime.Object) string {
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	if err != nil {
		panic(err)
	}
	plural, _ := meta.UnsafeGuessKindToResource(kinds[0])
	return plural.Resource
}

// write describes a write of an object.
func write(verb string, obj, old runtime.Object) *Attributes {
	subject := obj
	if subject == nil {
		subject = old
	}
	m, err := meta.Accessor(subject)
	if err != nil {
		panic(err)
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(subject)
	if err != nil {
		panic(err)
	}
	gvr, _ := meta.UnsafeGuessKindToResource(kinds[0])
	return &Attributes{Verb: verb, GVR: gvr, Namespace: m.GetNamespace(), Name: m.GetName(), Object: obj, OldObject: old}
}

// parse reads an object as a client would write it.
func parse[T runtime.Object](text string) T {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		panic(err)
	}
	obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		panic(err)
	}
	return obj.(T)
}
