// Package children is what the controllers of workloads have in common about
// the objects that they own: finding them by their controller reference,
// adopting and releasing them, creating many in slow-start batches, and waiting
// until the cache shows what was written.
package children
