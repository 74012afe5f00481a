// Package fault breaks the links of a running cluster on purpose: it pauses and
// crashes components, holds back, loses and cuts watches, and answers requests in
// place of the API server, so that one can see the cluster heal.
//
// It guarantees:
//   - Each fault ends, by Clear or when its time is over, and counts what it did.
//   - What it ends leaves nothing broken: who was held up goes on, what crashed is
//     started anew, and a watch that lost events ends with 410, so that its client
//     lists again.
//   - Lists and watches of this package itself, the clock and all other paths that
//     are no resources are never disturbed.
//
// Time is the cluster's, so a fault lasts while the clock stands.
package fault
