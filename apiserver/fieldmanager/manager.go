package fieldmanager

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// maxUpdaters is how many entries of plain writes an object keeps, as in the library.
const maxUpdaters = 10

// Config says whose fields a Manager tracks. All of it is required but Reset and Subresource.
type Config struct {
	Kind        schema.GroupVersionKind
	Subresource string // through which the writes come
	Types       managedfields.TypeConverter
	Sets        *Sets
	// Convertor leads between the versions of the kind, and from an unstructured
	// object to the Go type of its version.
	Convertor runtime.ObjectConvertor
	Default   func(runtime.Object) // fills what an applied object leaves out
	New       func() runtime.Object
	// Reset filters out what a write this way can't set, by version.
	Reset map[fieldpath.APIVersion]fieldpath.Filter
	Now   func() metav1.Time
}

// Manager tracks who set the fields of objects of one kind, as seen in one of its
// versions and written through the resource or one subresource. It may be used
// from many goroutines.
type Manager struct {
	Config
	library *managedfields.FieldManager
	shapes  shapes
	// quantities tells of the types met whether they hold quantities.
	quantities sync.Map
}

// New returns a Manager.
func New(c Config) (*Manager, error) {
	m := &Manager{Config: c}
	hub := c.Kind.GroupVersion() // the convertor leads from any version to any
	var err error
	m.library, err = managedfields.NewDefaultCRDFieldManager(c.Types, c.Convertor, defaulter(c.Default), creater(m.Empty), c.Kind, hub, c.Subresource, c.Reset)
	if err != nil {
		return nil, fmt.Errorf("managing the fields of %s: %w", c.Kind, err)
	}
	return m, nil
}

type defaulter func(runtime.Object)

func (f defaulter) Default(obj runtime.Object) { f(obj) }

type creater func() runtime.Object

func (f creater) New(schema.GroupVersionKind) (runtime.Object, error) { return f(), nil }

// Empty is what a new object is compared with.
func (m *Manager) Empty() runtime.Object {
	obj := m.New()
	obj.GetObjectKind().SetGroupVersionKind(m.Kind)
	return obj
}

// Apply merges an applied configuration into the live object, which is Empty where
// there is none yet. It returns the new object with its managed fields; neither
// argument is changed. A field that another manager owns with another value is a
// conflict, unless force takes it over.
func (m *Manager) Apply(live runtime.Object, config *unstructured.Unstructured, manager string, force bool) (runtime.Object, error) {
	obj, err := m.library.Apply(live, config, manager, force)
	if err != nil {
		return nil, err
	}
	return obj, m.stamp(live, obj)
}

// update is Update by the library.
func (m *Manager) update(live, obj runtime.Object, manager string) error {
	out, err := m.library.Update(live, obj, manager)
	if err != nil {
		return err
	}
	if out != obj {
		return fmt.Errorf("the library returned another object of %s", m.Kind)
	}
	return m.stamp(live, obj)
}

// stamp puts our time where the library has put the system's.
func (m *Manager) stamp(live, obj runtime.Object) error {
	before, err := meta.Accessor(live)
	if err != nil {
		return err
	}
	after, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	known := before.GetManagedFields()
	entries := after.GetManagedFields()
	for i := range entries {
		old := slices.ContainsFunc(known, func(e metav1.ManagedFieldsEntry) bool { return e.Time.Equal(entries[i].Time) })
		if entries[i].Time != nil && !old {
			now := m.Now()
			entries[i].Time = &now
		}
	}
	if len(entries) > 0 {
		sortEntries(entries)
		after.SetManagedFields(entries)
	}
	return nil
}

// SameButTimes tells whether entries differ in nothing but their times, which then
// say no more than that somebody wrote what was there already.
func SameButTimes(a, b []metav1.ManagedFieldsEntry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if identityOf(&a[i]) != identityOf(&b[i]) || a[i].APIVersion != b[i].APIVersion || !reflect.DeepEqual(a[i].FieldsV1, b[i].FieldsV1) {
			return false
		}
	}
	return true
}
