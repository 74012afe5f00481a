package fieldmanager

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// entry is a managed fields entry with its fields read.
type entry struct {
	metav1.ManagedFieldsEntry
	set   *fieldpath.Set
	stale bool // set has changed since FieldsV1 was written
}

// identity is what there is one entry of. Whoever applies has one in all versions.
type identity struct {
	manager, version, subresource string
	operation                     metav1.ManagedFieldsOperationType
}

func identityOf(e *metav1.ManagedFieldsEntry) identity {
	id := identity{manager: e.Manager, subresource: e.Subresource, operation: e.Operation}
	if e.Operation == metav1.ManagedFieldsOperationUpdate {
		id.version = e.APIVersion
	}
	return id
}

// decode reads entries as they stand in an object.
func (c *Sets) decode(encoded []metav1.ManagedFieldsEntry) ([]entry, error) {
	entries := make([]entry, 0, len(encoded)+1)
	seen := make(map[identity]int, len(encoded))
	for _, e := range encoded {
		switch {
		case e.Operation != metav1.ManagedFieldsOperationApply && e.Operation != metav1.ManagedFieldsOperationUpdate:
			return nil, fmt.Errorf("unknown operation %q", e.Operation)
		case e.APIVersion == "":
			return nil, fmt.Errorf("entry of %q without apiVersion", e.Manager)
		case e.FieldsType != "FieldsV1":
			return nil, fmt.Errorf("unknown fieldsType %q", e.FieldsType)
		}
		set, err := c.read(e.FieldsV1)
		if err != nil {
			return nil, fmt.Errorf("fields of %q: %w", e.Manager, err)
		}
		next := entry{ManagedFieldsEntry: e, set: set}
		if i, ok := seen[identityOf(&e)]; ok { // the last one counts
			entries[i] = next
			continue
		}
		seen[identityOf(&e)] = len(entries)
		entries = append(entries, next)
	}
	return entries, nil
}

// encode writes entries back, those without fields left out.
func (c *Sets) encode(entries []entry) ([]metav1.ManagedFieldsEntry, error) {
	out := make([]metav1.ManagedFieldsEntry, 0, len(entries))
	for _, e := range entries {
		if e.set.Empty() {
			continue
		}
		if e.stale {
			var err error
			if e.FieldsV1, err = c.write(e.set); err != nil {
				return nil, err
			}
		}
		out = append(out, e.ManagedFieldsEntry)
	}
	sortEntries(out)
	return out, nil
}

// sortEntries puts appliers first, then goes by time and name.
func sortEntries(entries []metav1.ManagedFieldsEntry) {
	seconds := func(t *metav1.Time) int64 {
		if t == nil {
			return 0
		}
		return t.Unix()
	}
	slices.SortFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a.Time), seconds(b.Time)),
			cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Subresource, b.Subresource))
	})
}
