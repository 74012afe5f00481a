// Package cache is the API server's watch cache: a view of the store's log of
// revisions that answers every ordinary read without touching the store.
//
// One watch on the registry prefix feeds it. The stream is split by resource
// into a Resource each: the objects as of now, in key order, and a window of
// the last events. What it guarantees:
//
//   - Revision is the newest revision that all resources have seen, since every
//     write passes through the one stream. "Has the cache seen revision N" is
//     one comparison; Wait waits for it.
//   - A Snapshot holds one revision and costs no copy (a copy-on-write B-tree).
//   - A Cursor walks the window at its own pace. Events are shared by all
//     cursors and never changed; nobody waits for a slow cursor, which loses its
//     place when the window has moved past it (ErrExpired).
//   - An Entry is the stored bytes with resourceVersion spliced in. Other forms
//     are made on demand; an Event keeps those it was asked for, so a thousand
//     watchers share one encoding.
package cache
