package runner

import (
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/trace"
)

// wake is the event that a reconcile answers.
type wake struct {
	revision int64
	watch    *Watch
	object   Key
}

func (w wake) objectName() string {
	return trace.ObjectName(w.watch.Resource.Resource, w.watch.Resource.Group, w.object.Namespace, w.object.Name)
}

// wakes remembers the newest event of each queued key.
type wakes struct {
	mu    sync.Mutex
	byKey map[Key]wake
}

func (w *wakes) put(key Key, event wake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if event.revision >= w.byKey[key].revision {
		w.byKey[key] = event
	}
}

func (w *wakes) take(key Key) (wake, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	event, found := w.byKey[key]
	delete(w.byKey, key)
	return event, found
}

// handler queues the keys that a watch's events concern.
func (r *Runner) handler(watch *Watch) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { r.enqueue(watch, obj.(metav1.Object), nil) },
		UpdateFunc: func(before, after any) {
			old, cur := before.(metav1.Object), after.(metav1.Object)
			if watch.Changed == nil || watch.Changed(old, cur) {
				r.enqueue(watch, cur, old)
			}
		},
		DeleteFunc: func(obj any) {
			if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = missed.Obj
			}
			r.enqueue(watch, obj.(metav1.Object), nil)
		},
	}
}

func (r *Runner) enqueue(watch *Watch, cur, old metav1.Object) {
	keys := watch.Keys(cur)
	if old != nil {
		keys = append(keys, watch.Keys(old)...)
	}
	if len(keys) == 0 {
		return
	}
	revision, _ := strconv.ParseInt(cur.GetResourceVersion(), 10, 64) // 0 against a server with opaque ones
	for _, key := range keys {
		r.wakes.put(key, wake{revision: revision, watch: watch, object: cache.MetaObjectToName(cur)})
		r.queue.Add(key)
	}
}
