// Package stage has life cycles as data: Stages of kwok (kwok.x-k8s.io/v1alpha1),
// each of which says which objects it is for, when it comes, and what it changes.
//
//   - A Stage without a selector selects nothing; an empty selector everything.
//   - Keys of expressions are jq programs. One that fails on an object has no value.
//   - Of the Stages that match, one is drawn by weight; all alike if no weight is
//     above 0.
//   - A delay is durationMilliseconds, or what durationFrom finds in the object: an
//     instant, or a duration such as "5s". With jitter it lies between the two, and
//     jitter that is shorter counts alone.
//   - Nothing here reads a clock, the network or the environment.
//
// Left out against kwok: expressions in CEL, next.patches, impersonation, and the
// functions of sprig in templates but for dict, list and default.
package stage
