package apiserver

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// recentSize is how many decoded objects are kept.
const recentSize = 1024

// recent keeps the objects that were written last, decoded, by the revision
// that wrote them. What is written is soon read again, by the watchers that
// want another form than JSON and by the next write to it; decoding costs more
// than all the rest of a request.
type recent struct {
	mu         sync.Mutex
	byRevision map[int64]runtime.Object
	ring       [recentSize]int64
	next       int
}

func newRecent() *recent { return &recent{byRevision: make(map[int64]runtime.Object, recentSize)} }

// put takes over an object, which must not be changed any more.
func (r *recent) put(revision int64, obj runtime.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byRevision, r.ring[r.next])
	r.ring[r.next] = revision
	r.next = (r.next + 1) % recentSize
	r.byRevision[revision] = obj
}

// get returns the object that a revision wrote, not to be changed, or nil.
func (r *recent) get(revision int64) runtime.Object {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byRevision[revision]
}
