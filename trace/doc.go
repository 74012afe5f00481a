// Package trace is the record of what happened and why. Components record
// OpenTelemetry spans with the small vocabulary of attributes below; a
// Recorder keeps the last ones in memory for `kubesim trace`.
//
// What links the spans to one tree:
//
//   - A request span of the API server says which object it wrote at which
//     revision (Object, Wrote).
//   - A span of a controller, the scheduler or a fakelet names the object it
//     worked on and the revision that woke it (Object, Woke). That revision is
//     the one that another span wrote.
//   - Requests carry the W3C traceparent header of the span that made them
//     (see Transport), so the API server's span is its child, also when the
//     component runs in another process or against another API server.
package trace
