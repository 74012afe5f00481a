// Package memory is a store.Store that lives in memory: a small
// multi-version store with etcd's rules, for tests and throw-away clusters.
//
// It is the design's one idea in its smallest form. The store is a log with
// one event a revision; two views are kept of it:
//
//   - the index, an ordered tree of keys, each with its versions, answers Get
//     and List at any revision that was not compacted;
//   - a watch is a position in the log. It has no buffer of its own: a watcher
//     that never reads costs nothing and stalls nobody, and ends with
//     store.ErrCompacted when the log is cut behind its position.
//
// As in etcd the empty store stands at revision 1, so the first write makes
// revision 2. The only goroutine is one for each open watch. It blocks on
// channels alone, so that a store made inside a testing/synctest bubble lets
// the bubble's clock advance.
package memory
