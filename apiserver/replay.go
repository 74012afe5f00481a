package apiserver

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/store"
)

// replay tells the events after a revision that the window no longer has, read
// from the store, up to where the window takes over.
func (w *watcher) replay(ctx context.Context, revision int64) (*cache.Cursor, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resource := w.s.cache.Resource(w.q.res.prefix)
	watch := w.s.store.Watch(ctx, w.q.res.prefix, revision)
	for {
		if cursor, err := resource.Watch(revision); err == nil {
			return cursor, nil
		}
		events, ok := <-watch.Events()
		if !ok {
			return nil, tooOld(watch.Err(), revision)
		}
		for _, ev := range events {
			revision = ev.Revision
			if ev.Type == store.Progress {
				continue
			}
			told, err := w.past(ctx, ev)
			if err != nil {
				return nil, tooOld(err, revision)
			}
			if !w.sendEvent(told) {
				return nil, ctx.Err()
			}
		}
	}
}

// past makes of a store's event the cache's, with the object as it was before.
func (w *watcher) past(ctx context.Context, ev store.Event) (*cache.Event, error) {
	var prev *cache.Entry
	if !ev.Created {
		kv, err := w.s.store.Get(ctx, ev.Key, ev.Revision-1)
		if err != nil {
			return nil, err
		}
		prev = cache.NewEntry(kv)
	}
	return cache.NewEvent(ev, prev), nil
}

func tooOld(err error, revision int64) error {
	return apierrors.NewResourceExpired("too old resource version: " + formatRevision(revision) + " (" + err.Error() + ")")
}
