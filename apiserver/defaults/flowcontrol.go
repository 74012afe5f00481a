package defaults

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// FlowSchema fills the precedence.
func FlowSchema(schema *flowcontrolv1.FlowSchema) {
	setZero(&schema.Spec.MatchingPrecedence, 1000)
}

// PriorityLevelConfiguration fills shares and queues.
func PriorityLevelConfiguration(level *flowcontrolv1.PriorityLevelConfiguration) {
	if exempt := level.Spec.Exempt; exempt != nil {
		setNil(&exempt.NominalConcurrencyShares, 0)
		setNil(&exempt.LendablePercent, 0)
	}
	limited := level.Spec.Limited
	if limited == nil {
		return
	}
	setNil(&limited.NominalConcurrencyShares, 30)
	setNil(&limited.LendablePercent, 0)
	if queuing := limited.LimitResponse.Queuing; queuing != nil {
		setZero(&queuing.HandSize, 8)
		setZero(&queuing.Queues, 64)
		setZero(&queuing.QueueLengthLimit, 50)
	}
}
