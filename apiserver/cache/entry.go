package cache

import (
	"bytes"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/store"
)

// Entry is one object at one revision.
type Entry struct {
	Key      string
	Revision int64
	JSON     []byte // the object with its resourceVersion, never to be changed
	// Unstored is true for a form that is not the one of Revision: what a dry run
	// would make, or how an object was when it went.
	Unstored bool

	labelsOnce sync.Once
	labels     labels.Set
	decoded    atomic.Pointer[runtime.Object]
	shown      atomic.Pointer[shownEntry]
}

// shownEntry is how an entry looks to those who read it under other rules than those
// under which it was stored.
type shownEntry struct {
	rules any
	entry *Entry
}

// Shown is what Show kept for these rules, or nil.
func (e *Entry) Shown(rules any) *Entry {
	if s := e.shown.Load(); s != nil && s.rules == rules {
		return s.entry
	}
	return nil
}

// Show keeps how the entry looks under rules, which are compared as they are. Only the
// last ones are kept.
func (e *Entry) Show(rules any, as *Entry) { e.shown.Store(&shownEntry{rules, as}) }

// Decoded keeps what decode made of the entry, for those few that are read at
// every write, such as namespaces. It must not be changed.
func (e *Entry) Decoded(decode func() (runtime.Object, error)) (runtime.Object, error) {
	if obj := e.decoded.Load(); obj != nil {
		return *obj, nil
	}
	obj, err := decode()
	if err == nil {
		e.decoded.Store(&obj)
	}
	return obj, err
}

var metadata = []byte(`"metadata":{`)

// NewEntry makes an entry of what the store holds under a key.
func NewEntry(kv store.KeyValue) *Entry {
	return &Entry{Key: kv.Key, Revision: kv.Revision, JSON: Splice(kv.Value, kv.Revision)}
}

// Splice puts a resourceVersion into the stored form of an object. Stored
// objects have none, and begin with kind, apiVersion and metadata.
func Splice(stored []byte, revision int64) []byte {
	at := bytes.Index(stored, metadata)
	if at < 0 {
		return stored
	}
	at += len(metadata)
	out := make([]byte, 0, len(stored)+len(`"resourceVersion":"",`)+20)
	out = append(out, stored[:at]...)
	out = append(out, `"resourceVersion":"`...)
	out = strconv.AppendInt(out, revision, 10)
	out = append(out, '"')
	if stored[at] != '}' {
		out = append(out, ',')
	}
	return append(out, stored[at:]...)
}

// Stored is the inverse of Splice.
func (e *Entry) Stored() []byte {
	at := bytes.Index(e.JSON, metadata) + len(metadata)
	rest := e.JSON[at+len(`"resourceVersion":"`):]
	rest = rest[bytes.IndexByte(rest, '"')+1:]
	rest = bytes.TrimPrefix(rest, []byte(","))
	return append(bytes.Clone(e.JSON[:at]), rest...)
}

// Labels are the object's labels.
func (e *Entry) Labels() labels.Set {
	e.labelsOnce.Do(func() {
		gjson.GetBytes(e.JSON, "metadata.labels").ForEach(func(k, v gjson.Result) bool {
			if e.labels == nil {
				e.labels = labels.Set{}
			}
			e.labels[k.String()] = v.String()
			return true
		})
	})
	return e.labels
}

// Field reads a value by its path, such as spec.nodeName; "" when it is absent.
func (e *Entry) Field(path string) string {
	return gjson.GetBytes(e.JSON, path).String()
}

// at is the entry as it was, under a later revision: what a watcher is told of
// an object that left its selection.
func (e *Entry) at(revision int64) *Entry {
	return &Entry{Key: e.Key, Revision: revision, JSON: Splice(e.Stored(), revision)}
}
