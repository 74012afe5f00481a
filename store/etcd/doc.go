// Package etcd is the store.Store on etcd: a single-member server inside this
// process, or an external cluster that is named by its endpoints.
//
// The embedded server has no socket. It is an EtcdServer without listeners:
// requests are function calls into the code that serves etcd's gRPC API, and
// watches read the multi-version store's own stream. What is written is raft
// log and bbolt file as ever, so that the data directory can be opened by a
// real etcd, and Config.ClientListen lets etcdctl in.
//
// Guarantees beyond those of package store:
//
//   - A write that returned nil is on disk (fsync) and survives kill -9,
//     unless Config.NoFsync gave that away.
//   - Two processes never open one data directory: the second is refused.
//   - When the directory can't be read at Open, or not be written later, every
//     call and watch fails with an error that says what to do. Nothing goes on
//     in memory only, and the process is not ended as etcd would.
//
// A read of the embedded server is served from its own state. That is
// linearizable as long as there is one member: a write is acknowledged after
// it was applied to that state.
//
// Left out: clusters of several embedded members, etcd's users and leases,
// defragmentation while running (a database that is out of space is
// defragmented by the next Open).
package etcd
