package children

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// Expectations keep a controller from acting twice on a cache that does not
// show its last writes yet. Since resourceVersions are ordered, what it wrote is
// there as soon as the cache has reached the newest revision it wrote; a
// deletion shows by the child's absence.
//
// They can't get stuck: the cache reaches every revision, and whatever it then
// lacks or shows as deleted is no longer waited for. The event that fulfils one
// also wakes the owner.
type Expectations struct {
	mu    sync.Mutex
	byKey map[cache.ObjectName]*expectation
}

type expectation struct {
	revision string
	deleted  []types.UID
}

// NewExpectations returns an empty set.
func NewExpectations() *Expectations {
	return &Expectations{byKey: map[cache.ObjectName]*expectation{}}
}

func (e *Expectations) of(key cache.ObjectName) *expectation {
	if e.byKey[key] == nil {
		e.byKey[key] = &expectation{}
	}
	return e.byKey[key]
}

// Wrote notes the resourceVersion of a child that was created or updated.
func (e *Expectations) Wrote(key cache.ObjectName, resourceVersion string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if expected := e.of(key); newer(resourceVersion, expected.revision) {
		expected.revision = resourceVersion
	}
}

// Deleted notes a child whose deletion was accepted.
func (e *Expectations) Deleted(key cache.ObjectName, uid types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	expected := e.of(key)
	expected.deleted = append(expected.deleted, uid)
}

// Fulfilled tells whether a cache at that resourceVersion shows all writes;
// alive says whether it still has a child that is not marked for deletion.
func (e *Expectations) Fulfilled(key cache.ObjectName, cacheRevision string, alive func(types.UID) bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	expected := e.byKey[key]
	if expected == nil {
		return true
	}
	if newer(expected.revision, cacheRevision) {
		return false
	}
	for _, uid := range expected.deleted {
		if alive(uid) {
			return false
		}
	}
	delete(e.byKey, key)
	return true
}

// Forget drops what was expected for an owner that is gone.
func (e *Expectations) Forget(key cache.ObjectName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.byKey, key)
}

// newer compares two revisions. Opaque ones, of which Kubernetes has none since
// v1.35, are never newer.
func newer(a, b string) bool {
	if a == "" || b == "" {
		return a != ""
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
