// Package runner is the one loop that all controllers share: it turns watch
// events into keys, queues them, and reconciles each key until that succeeds.
//
// A controller only says what it watches, how an object becomes the keys of
// the objects it concerns, and how to reconcile one key. The runner guarantees:
//
//   - a key is reconciled by at most one worker at a time, and once more if an
//     event arrived meanwhile; any number of events in between make one run;
//   - a failed key is retried after 5 ms, then twice as long each time, at most
//     1000 s; success resets that. A conflict is a failure like any other, only
//     that nobody needs to read about it;
//   - a panic is a failed reconcile, not the end of the process;
//   - each reconcile is a span naming the newest event that woke it and, with
//     Decide, what was decided; requests made with its context are its children;
//   - Run returns only after its workers have.
//
// Kubernetes' controllers each bring a copy of this loop.
package runner
