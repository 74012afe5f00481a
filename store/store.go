package store

import (
	"context"
	"errors"
	"fmt"
)

// KeyValue is one key at one revision.
type KeyValue struct {
	Key   string
	Value []byte // shared: must not be changed by whoever gets it
	// Revision is the revision that last wrote the key (etcd's ModRevision).
	Revision int64
}

// MaxValueSize is the length of the longest value a Store takes, 1.5 MiB as in
// etcd. A longer one is refused with ErrTooLarge.
const MaxValueSize = 3 << 19

// Store is a log of revisions seen as a map of keys. All methods are safe for
// concurrent use; none keeps a value it was given.
type Store interface {
	// Create writes a key that must not exist; it returns the new revision or ErrExists.
	Create(ctx context.Context, key string, value []byte) (int64, error)
	// Get reads a key, at a past revision when revision is not 0.
	Get(ctx context.Context, key string, revision int64) (KeyValue, error)
	// List reads the keys that begin with prefix, in byte order, all at one revision.
	List(ctx context.Context, prefix string, opts ListOptions) (ListResult, error)
	// Update replaces the value of a key that must stand at revision.
	// Otherwise it changes nothing and returns a *ConflictError or ErrNotFound.
	Update(ctx context.Context, key string, value []byte, revision int64) (int64, error)
	// Delete removes a key that must stand at revision, with Update's errors.
	Delete(ctx context.Context, key string, revision int64) (int64, error)
	// Watch delivers the events after revision on keys that begin with prefix,
	// until ctx ends or the watch fails.
	Watch(ctx context.Context, prefix string, revision int64) Watcher
	// Current returns the newest revision, no older than any write that was
	// acknowledged before the call. Every open watch soon delivers an event of
	// that revision or later, or a Progress event.
	Current(ctx context.Context) (int64, error)
	// Compact forgets what was overwritten at or before revision, which stays the
	// oldest that can be read. To compact the same revision twice is ErrCompacted.
	Compact(ctx context.Context, revision int64) error
	// Close ends all watches and frees what the store holds.
	Close() error
}

// ListOptions narrows a List; the zero value reads all keys at the newest revision.
type ListOptions struct {
	Revision int64  // 0: the newest
	After    string // only keys behind this one in byte order
	Limit    int    // 0: no limit
}

// ListResult is what List read.
type ListResult struct {
	Items    []KeyValue
	Revision int64 // the revision that was read, also for an empty result
	// Remaining counts the keys behind the last one returned; 0 without a limit.
	Remaining int64
}

// EventType says what an Event did.
type EventType int8

const (
	// Put is a create or an update.
	Put EventType = iota
	// Delete removed the key; Value is nil.
	Delete
	// Progress is no change: all events up to its Revision have been delivered.
	Progress
)

// Event is one change in the log.
type Event struct {
	Type EventType
	KeyValue
	// Created tells the Put that made the key from one that changed it.
	Created bool
}

// Watcher is an open watch.
type Watcher interface {
	// Events delivers batches in revision order; the events of one batch may be
	// of several revisions, but never is one revision split over two batches.
	// The channel is closed when the watch ends.
	Events() <-chan []Event
	// Err says, once the channel is closed, why: the context's error, ErrCompacted
	// when the next revision to deliver is gone, or ErrClosed.
	Err() error
}

// Errors of a Store, to be tested with errors.Is.
var (
	ErrExists         = errors.New("key exists")
	ErrNotFound       = errors.New("key not found")
	ErrConflict       = errors.New("key has another revision")
	ErrCompacted      = errors.New("revision has been compacted")
	ErrFutureRevision = errors.New("revision is in the future")
	ErrTooLarge       = errors.New("value is too large")
	ErrClosed         = errors.New("store is closed")
)

// ConflictError is ErrConflict with what stands in the store now.
type ConflictError struct{ Current KeyValue }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("key %q is at revision %d", e.Current.Key, e.Current.Revision)
}

// Is makes errors.Is(err, ErrConflict) hold.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// CompactedError is ErrCompacted with the oldest revision that can still be read.
type CompactedError struct{ Oldest int64 }

func (e *CompactedError) Error() string {
	return fmt.Sprintf("revision has been compacted, the oldest is %d", e.Oldest)
}

// Is makes errors.Is(err, ErrCompacted) hold.
func (e *CompactedError) Is(target error) bool { return target == ErrCompacted }

// FutureRevisionError is ErrFutureRevision with the newest revision.
type FutureRevisionError struct{ Current int64 }

func (e *FutureRevisionError) Error() string {
	return fmt.Sprintf("revision is in the future, the newest is %d", e.Current)
}

// Is makes errors.Is(err, ErrFutureRevision) hold.
func (e *FutureRevisionError) Is(target error) bool { return target == ErrFutureRevision }
