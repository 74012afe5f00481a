package apiserver

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubesim/kubesim/apiserver/cache"
)

const (
	// minWatch is the least time after which a watch without a timeout ends; the
	// most is twice that. Clients connect again.
	minWatch = 30 * time.Minute
	// bookmarkEvery is how often a watch that allows bookmarks gets one.
	bookmarkEvery = time.Minute
	// lastBookmark is how long a watch must have lasted to end with a bookmark.
	lastBookmark = 2 * time.Second
	// gather is how long a watch that has just sent something waits for more, so
	// that what happens in a burst goes out together.
	gather = 2 * time.Millisecond
)

// watcher is one open watch.
type watcher struct {
	s         *Server
	q         *request
	sel       *selection
	opts      *metav1.ListOptions
	bookmarks bool
	sent      atomic.Int64 // revision up to which the client has been told; only the watcher itself changes it
	headed    bool         // the columns of a Table were told
	out       *sender
	gathers   bool // the client is behind a socket, where each send costs a system call
}

func (s *Server) watch(ctx context.Context, q *request) error {
	sel, err := s.selectionOf(q)
	if err != nil {
		return err
	}
	opts, err := q.listOptions()
	if err != nil {
		return err
	}
	w := &watcher{s: s, q: q, sel: sel, opts: opts, bookmarks: opts.AllowWatchBookmarks, out: s.sender(q.w)}
	start, err := w.start(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ended, cancel)()
	s.metrics.watches.Inc()
	defer s.metrics.watches.Dec()
	w.open()
	defer w.out.release()
	s.watches.begin(w, s.clock.Now())
	why, err := w.run(ctx, start)
	if err != nil && ctx.Err() == nil {
		why = err.Error()
		w.send(watch.Error, func() (runtime.Object, error) { return statusOf(err), nil })
	}
	s.watches.end(w, s.clock.Now(), why)
	return nil
}

// told notes that the client knows all up to revision.
func (w *watcher) told(revision int64) {
	if revision > w.sent.Load() {
		w.sent.Store(revision)
	}
}

// beginning is what a watch starts from.
type beginning struct {
	initial []*cache.Entry // told as ADDED
	end     bool           // a bookmark marks the end of initial
	cursor  *cache.Cursor
	replay  int64 // events after this revision are older than the window; 0 without
}

// start finds where the watch begins.
func (w *watcher) start(ctx context.Context) (beginning, error) {
	version, initial := w.opts.ResourceVersion, w.opts.SendInitialEvents
	revision, err := parseRevision(version)
	if err != nil {
		return beginning{}, statusError(http.StatusInternalServerError, "", nil, "%v", err)
	}
	resource := w.s.cache.Resource(w.q.res.prefix)
	if initial != nil && *initial || initial == nil && revision == 0 {
		if err := w.s.fresh(ctx, version); err != nil {
			return beginning{}, err
		}
		return w.fromNow(resource, initial != nil), nil
	}
	if revision == 0 {
		if err := w.s.fresh(ctx, version); err != nil {
			return beginning{}, err
		}
		revision = w.s.cache.Revision()
	}
	w.sent.Store(revision)
	cursor, err := resource.Watch(revision)
	if errors.Is(err, cache.ErrExpired) {
		return beginning{replay: revision}, nil
	}
	return beginning{cursor: cursor}, err
}

// fromNow begins with the objects that are there.
func (w *watcher) fromNow(resource *cache.Resource, end bool) beginning {
	revision := w.s.cache.Revision()
	snapshot, cursor := resource.WatchSnapshot()
	b := beginning{cursor: cursor, end: end && w.bookmarks}
	snapshot.Each(w.sel.prefix, "", func(e *cache.Entry) bool {
		if w.sel.has(e) {
			b.initial = append(b.initial, e)
		}
		return true
	})
	w.sent.Store(max(revision, snapshot.Revision))
	return b
}

// open sends the header, so that the client knows that the watch stands.
func (w *watcher) open() {
	f := &w.q.form
	f.exact = f.media
	if f.media == mediaProtobuf {
		f.exact += ";stream=watch"
	}
	h := w.q.w.Header()
	h.Set("Content-Type", f.contentType())
	h.Set("Cache-Control", "no-cache, private")
	w.q.w.WriteHeader(http.StatusOK)
	w.gathers = w.out.setTimeout() == nil
	_ = w.out.flush()
}

// Why a watch ends without an error.
const (
	clientLeft        = "the client left"
	timeIsOver        = "its time was over"
	definitionChanged = "the definition of the kind changed"
)

// run tells the client of events until the time is over, and returns why it
// ended. An error is for the client.
func (w *watcher) run(ctx context.Context, b beginning) (why string, err error) {
	if b.replay > 0 {
		cursor, err := w.replay(ctx, b.replay)
		if err != nil {
			return "", err
		}
		b.cursor = cursor
	}
	for _, e := range b.initial {
		if !w.sendEntry(watch.Added, e, nil) {
			return clientLeft, nil
		}
	}
	if b.end && !w.bookmark(true) {
		return clientLeft, nil
	}
	_ = w.out.flush()
	opened := w.s.clock.Now()
	timeout := w.s.clock.NewTimer(w.timeout())
	defer timeout.Stop()
	ticks := make(<-chan time.Time)
	if w.bookmarks {
		ticker := w.s.clock.NewTicker(bookmarkEvery)
		defer ticker.Stop()
		ticks = ticker.C()
	}
	for {
		seen := w.s.cache.Revision()
		events, more, err := b.cursor.Next()
		if err != nil {
			return "", apierrors.NewResourceExpired("the watch fell too far behind")
		}
		if len(events) > 0 {
			if !w.sendEvents(events) {
				return clientLeft, nil
			}
			if w.gathers {
				time.Sleep(gather)
			}
			continue
		}
		w.told(seen)
		select {
		case <-more:
		case <-ticks:
			if !w.bookmark(false) || w.out.flush() != nil {
				return clientLeft, nil
			}
		case <-timeout.C():
			if w.bookmarks && w.s.clock.Since(opened) > lastBookmark {
				w.bookmark(false)
			}
			return timeIsOver, nil
		case <-w.q.res.gone: // clients begin anew
			return definitionChanged, nil
		case <-ctx.Done():
			return clientLeft, nil
		}
	}
}

func (w *watcher) timeout() time.Duration {
	if n := w.opts.TimeoutSeconds; n != nil && *n > 0 {
		return time.Duration(*n) * time.Second
	}
	return minWatch + rand.N(minWatch)
}

func (w *watcher) sendEvents(events []*cache.Event) bool {
	for _, ev := range events {
		if !w.sendEvent(ev) {
			return false
		}
	}
	return w.out.flush() == nil
}

// sendEvent tells what an event means to this selection: an object that comes
// into it is ADDED, one that leaves it DELETED.
func (w *watcher) sendEvent(ev *cache.Event) bool {
	w.told(ev.Revision)
	was := w.sel.has(ev.Prev)
	is := !ev.Deleted && w.sel.has(ev.Entry)
	switch {
	case is && !was:
		return w.sendEntry(watch.Added, ev.Entry, ev)
	case is:
		return w.sendEntry(watch.Modified, ev.Entry, ev)
	case was:
		return w.sendEntry(watch.Deleted, ev.Left(), ev)
	}
	return true
}

// sendEntry writes an event. What is the same for all watchers is encoded once.
func (w *watcher) sendEntry(t watch.EventType, e *cache.Entry, ev *cache.Event) bool {
	encode := func() ([]byte, error) {
		if w.q.form.plain() && w.q.res.Storage == nil {
			shown, err := w.s.codec.shown(w.q.res, e)
			if err != nil {
				return nil, err
			}
			return frameJSON(t, shown[0].JSON), nil
		}
		obj, err := w.s.view(w.q, e)
		if err != nil {
			return nil, err
		}
		if table, ok := obj.(*metav1.Table); ok {
			if w.headed {
				table.ColumnDefinitions = nil
			}
			w.headed = true
		}
		return w.frame(t, obj)
	}
	if ev == nil || w.q.form.as == "Table" {
		b, err := encode()
		return w.write(b, err)
	}
	b, err := ev.Form(string(t)+w.q.res.tag+w.q.form.name(), encode)
	return w.write(b, err)
}

// bookmark tells the client the revision it has seen.
func (w *watcher) bookmark(initialEnd bool) bool {
	return w.send(watch.Bookmark, func() (runtime.Object, error) {
		obj := w.s.codec.new(w.q.res.GroupVersionKind())
		obj.GetObjectKind().SetGroupVersionKind(w.q.res.GroupVersionKind())
		if w.q.form.as == "Table" {
			t, err := w.s.tableOf(w.q, nil)
			if err != nil {
				return nil, err
			}
			t.ColumnDefinitions = nil
			row := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}}
			row.ResourceVersion = strconv.FormatInt(w.sent.Load(), 10)
			t.ResourceVersion = row.ResourceVersion
			t.Rows = []metav1.TableRow{{Cells: []any{}, Object: runtime.RawExtension{Object: &row}}}
			return t, nil
		}
		if w.q.form.as != "" {
			obj = &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}}
		}
		accessor := accessorOf(obj)
		accessor.SetResourceVersion(strconv.FormatInt(w.sent.Load(), 10))
		if initialEnd {
			accessor.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		}
		return obj, nil
	})
}

func (w *watcher) send(t watch.EventType, object func() (runtime.Object, error)) bool {
	obj, err := object()
	if err != nil {
		return w.write(nil, err)
	}
	b, err := w.frame(t, obj)
	ok := w.write(b, err)
	_ = w.out.flush()
	return ok
}

func (w *watcher) write(b []byte, err error) bool {
	if err != nil {
		w.s.log.Error("Failed to encode a watch event", "resource", w.q.res.Resource, "err", err)
		return false
	}
	_, err = w.out.Write(b)
	return err == nil
}

// frame encodes an event with its object in the watch's media type.
func (w *watcher) frame(t watch.EventType, obj runtime.Object) ([]byte, error) {
	f := w.q.form
	f.pretty = false
	body, err := w.s.codec.encode(f, obj)
	if err != nil {
		return nil, err
	}
	if f.media != mediaProtobuf {
		return frameJSON(t, body[:len(body)-1]), nil
	}
	event := metav1.WatchEvent{Type: string(t), Object: runtime.RawExtension{Raw: body}}
	b, err := event.Marshal()
	if err != nil {
		return nil, fmt.Errorf("encoding a watch event: %w", err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...), nil
}

func frameJSON(t watch.EventType, object json.RawMessage) []byte {
	b := make([]byte, 0, len(object)+32)
	b = append(b, `{"type":"`...)
	b = append(b, t...)
	b = append(b, `","object":`...)
	b = append(b, object...)
	return append(b, '}', '\n')
}
