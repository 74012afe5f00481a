package fieldmanager

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// untracked are the fields that nobody owns.
var untracked = fieldpath.NewSet(
	fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"), fieldpath.MakePathOrDie("metadata"),
	fieldpath.MakePathOrDie("metadata", "name"), fieldpath.MakePathOrDie("metadata", "namespace"),
	fieldpath.MakePathOrDie("metadata", "creationTimestamp"), fieldpath.MakePathOrDie("metadata", "selfLink"),
	fieldpath.MakePathOrDie("metadata", "uid"), fieldpath.MakePathOrDie("metadata", "clusterName"),
	fieldpath.MakePathOrDie("metadata", "generation"), fieldpath.MakePathOrDie("metadata", "managedFields"),
	fieldpath.MakePathOrDie("metadata", "resourceVersion"),
)

// Update sets the managed fields of obj, which manager makes of live by a plain
// write; live is Empty for a new object. The manager gets the fields that it added
// or changed, the others lose those and what was removed.
//
// An object whose managed fields were reset, by an empty list, stays without them
// until somebody applies. After an error obj has the entries of live.
func (m *Manager) Update(live, obj runtime.Object, manager string) error {
	before, err := meta.Accessor(live)
	if err != nil {
		return err
	}
	after, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	if err := m.track(live, obj, before, after, manager); err != nil {
		after.SetManagedFields(before.GetManagedFields())
		return err
	}
	return nil
}

func (m *Manager) track(live, obj runtime.Object, before, after metav1.Object, manager string) error {
	obj.GetObjectKind().SetGroupVersionKind(m.Kind)
	entries := m.inherited(before, after)
	if len(entries) == 0 && before.GetUID() != "" {
		after.SetManagedFields(nil)
		return nil
	}
	if !m.isPlain(entries) {
		return m.update(live, obj, manager)
	}
	taken, removed, err := m.changed(live, obj, len(entries) == 0)
	if err != nil {
		return err
	}
	for i := range entries {
		entries[i].lose(taken)
		entries[i].lose(removed)
	}
	if !taken.Empty() {
		entries = m.gain(entries, manager, taken)
	}
	encoded, err := m.Sets.encode(entries)
	if err != nil {
		return err
	}
	if len(encoded) == 0 {
		encoded = nil
	}
	after.SetManagedFields(encoded)
	return nil
}

// inherited are the entries to go on from: those that the client sent, if it may
// and they can be read, else those of the live object.
func (m *Manager) inherited(before, after metav1.Object) []entry {
	if sent := after.GetManagedFields(); m.Subresource == "" && sent != nil {
		if isReset(sent) {
			return nil
		}
		if entries, err := m.Sets.decode(sent); err == nil {
			return entries
		}
	}
	entries, err := m.Sets.decode(before.GetManagedFields())
	if err != nil {
		return nil
	}
	return entries
}

// isReset is true for a list that is empty, or holds one empty entry.
func isReset(sent []metav1.ManagedFieldsEntry) bool {
	return len(sent) == 0 || len(sent) == 1 && sent[0] == metav1.ManagedFieldsEntry{}
}

// isPlain is true where the short way leads to the same entries as the library's:
// nothing is to be converted, and none of the entries to be merged.
func (m *Manager) isPlain(entries []entry) bool {
	version, updaters := m.Kind.GroupVersion().String(), 0
	for _, e := range entries {
		if e.APIVersion != version {
			return false
		}
		if e.Operation == metav1.ManagedFieldsOperationUpdate {
			updaters++
		}
	}
	return updaters < maxUpdaters
}

// changed finds the fields that a write sets, and those that it removes.
func (m *Manager) changed(live, obj runtime.Object, isNew bool) (taken, removed *fieldpath.Set, err error) {
	var key runtime.Object
	if _, typed := m.Types.(*builtin); typed && isNew {
		if key, err = nameless(obj); err != nil {
			return nil, nil, err
		}
		if taken := m.shapes.find(key); taken != nil {
			return taken, fieldpath.NewSet(), nil
		}
	}
	difference, err := m.compare(live, obj)
	if err != nil {
		return nil, nil, err
	}
	taken = difference.Modified.Union(difference.Added).Difference(untracked)
	if key != nil {
		m.shapes.keep(key, taken)
	}
	return taken, difference.Removed, nil
}

// compare finds what differs between two objects that this write can set.
func (m *Manager) compare(live, obj runtime.Object) (*typed.Comparison, error) {
	before, after := m.sparse(live, obj)
	before.GetObjectKind().SetGroupVersionKind(m.Kind)
	after.GetObjectKind().SetGroupVersionKind(m.Kind)
	was, err := m.typed(before)
	if err != nil {
		return nil, fmt.Errorf("typing the live object: %w", err)
	}
	is, err := m.typed(after)
	if err != nil {
		return nil, fmt.Errorf("typing the new object: %w", err)
	}
	difference, err := was.Compare(is)
	if err != nil {
		return nil, fmt.Errorf("comparing the objects: %w", err)
	}
	if filter := m.Reset[fieldpath.APIVersion(m.Kind.GroupVersion().String())]; filter != nil {
		difference = difference.FilterFields(filter)
	}
	return difference, nil
}

func (m *Manager) typed(obj runtime.Object) (*typed.TypedValue, error) {
	if b, ok := m.Types.(*builtin); ok {
		return b.trusted(obj)
	}
	return m.Types.ObjectToTyped(obj, typed.AllowDuplicates)
}

// gain gives the manager of this write its fields.
func (m *Manager) gain(entries []entry, manager string, taken *fieldpath.Set) []entry {
	if manager == "" {
		manager = "unknown"
	}
	now := m.Now()
	own := entry{set: taken, stale: true, ManagedFieldsEntry: metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: m.Kind.GroupVersion().String(),
		Subresource: m.Subresource, Time: &now, FieldsType: "FieldsV1",
	}}
	for i := range entries {
		if identityOf(&entries[i].ManagedFieldsEntry) == identityOf(&own.ManagedFieldsEntry) {
			own.set = entries[i].set.Union(taken)
			entries[i] = own
			return entries
		}
	}
	return append(entries, own)
}

// lose takes fields from an entry.
func (e *entry) lose(fields *fieldpath.Set) {
	if fields.Empty() || e.set.Intersection(fields).Empty() {
		return
	}
	e.set, e.stale = e.set.Difference(fields), true
}
