// Package store keeps versioned keys: bytes in, bytes and revisions out. It
// knows nothing of Kubernetes kinds.
//
// The model is etcd's. There is one ordered log of revisions; every write
// makes the next one, and each key remembers the revision that last changed
// it. Guarantees that both implementations (store/etcd and store/memory) give,
// and that store/storetest checks:
//
//   - A write is compare-and-swap on the key's revision, never blind.
//   - A write that returned nil is durable (as far as the store is durable)
//     and visible to every read and watch that follows.
//   - Revisions only rise, and one write makes one revision.
//   - A list reads one revision: nothing of a later write, all of the earlier ones.
//   - A watch delivers every event after its start revision once, in order.
//   - A revision that was compacted away is refused with ErrCompacted.
//
// Left out against etcd: leases, multi-key transactions, ranges that are not a prefix.
package store
