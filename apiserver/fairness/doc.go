// Package fairness decides which requests are worked on and which wait, as API
// priority and fairness does: a FlowSchema says to which priority level a request
// belongs and which flow it is part of; each level has so many seats; requests
// that find none wait, the flows of a level take turns, and a flow that has too
// many waiting is refused.
//
// Left out: borrowing of seats between levels, requests that take more than one
// seat, and shuffle sharding, since flows have a queue each.
package fairness
