package podautoscaler

import (
	"math"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"
)

// limited is a number of replicas and what held it, if anything did.
type limited struct {
	replicas        int32
	reason, message string
}

func within(replicas int32) limited {
	return limited{replicas, "DesiredWithinRange", "the desired count is within the acceptable range"}
}

func tooFew(replicas int32) limited {
	return limited{replicas, "TooFewReplicas", "the desired replica count is less than the minimum replica count"}
}

func tooMany(replicas int32) limited {
	return limited{replicas, "TooManyReplicas", "the desired replica count is more than the maximum replica count"}
}

func tooFast(replicas int32) limited {
	return limited{replicas, "ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate"}
}

// limit holds a wish to the autoscaler's bounds, and growth to twice the size.
func limit(current, desired, least, most int32) limited {
	fastest := max(2*current, 4)
	switch {
	case desired < least:
		return tooFew(least)
	case desired > min(fastest, most) && fastest < most:
		return tooFast(fastest)
	case desired > most:
		return tooMany(most)
	}
	return within(desired)
}

// limitByPolicies is the same for an autoscaler with a behaviour of its own.
func limitByPolicies(current, desired, least, most int32, behavior *autoscalingv2.HorizontalPodAutoscalerBehavior, h *history, now time.Time) limited {
	switch {
	case desired > current:
		fastest := max(upLimit(current, behavior.ScaleUp, h, now), current)
		if allowed := min(fastest, most); desired > allowed {
			if allowed == most {
				return tooMany(allowed)
			}
			return tooFast(allowed)
		}
	case desired < current:
		slowest := min(downLimit(current, behavior.ScaleDown, h, now), current)
		if allowed := max(slowest, least); desired < allowed {
			if allowed == least {
				return tooFew(allowed)
			}
			return limited{allowed, "ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate"}
		}
	}
	return bound(desired, least, most)
}

// bound holds a wish to the bounds alone.
func bound(desired, least, most int32) limited {
	switch {
	case desired < least:
		return tooFew(least)
	case desired > most:
		return tooMany(most)
	}
	return within(desired)
}

func upLimit(current int32, rules *autoscalingv2.HPAScalingRules, h *history, now time.Time) int32 {
	choose, result := selectPolicy(rules), int32(0)
	if choose == autoscalingv2.DisabledPolicySelect {
		return current
	}
	for i, policy := range rules.Policies {
		start := float64(current - h.changed(policy.PeriodSeconds, now))
		proposed := start + float64(policy.Value)
		if policy.Type == autoscalingv2.PercentScalingPolicy {
			proposed = math.Ceil(start * (1 + float64(policy.Value)/100))
		}
		if i == 0 || (choose != autoscalingv2.MinChangePolicySelect) == (proposed > float64(result)) {
			result = clamp(proposed)
		}
	}
	return result
}

func downLimit(current int32, rules *autoscalingv2.HPAScalingRules, h *history, now time.Time) int32 {
	choose, result := selectPolicy(rules), int32(0)
	if choose == autoscalingv2.DisabledPolicySelect {
		return current
	}
	for i, policy := range rules.Policies {
		start := float64(current - h.changed(policy.PeriodSeconds, now))
		proposed := start - float64(policy.Value)
		if policy.Type == autoscalingv2.PercentScalingPolicy {
			proposed = math.Trunc(start * (1 - float64(policy.Value)/100))
		}
		// The largest change leaves the fewest.
		if i == 0 || (choose != autoscalingv2.MinChangePolicySelect) == (proposed < float64(result)) {
			result = clamp(proposed)
		}
	}
	return result
}

func clamp(n float64) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

func selectPolicy(rules *autoscalingv2.HPAScalingRules) autoscalingv2.ScalingPolicySelect {
	return ptr.Deref(rules.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
}
