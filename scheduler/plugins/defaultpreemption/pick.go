package defaultpreemption

import (
	"math"
	"time"
)

// Pick returns the candidate that does least harm. Each rule decides among
// those that the rules before left equal:
//
//  1. fewest violations of budgets
//  2. least important of the most important victims
//  3. smallest sum of priorities
//  4. fewest victims
//  5. latest start of the earliest started among the most important victims
//
// The first one is taken if all are equal. There must be at least one.
func Pick(candidates []Candidate) Candidate {
	rules := []func(Candidate) int64{
		func(c Candidate) int64 { return int64(c.Violations) },
		func(c Candidate) int64 { return int64(c.Victims[0].Priority) },
		sumOfPriorities,
		func(c Candidate) int64 { return int64(len(c.Victims)) },
		func(c Candidate) int64 { return -earliestStart(c) },
	}
	for _, rule := range rules {
		candidates = least(candidates, rule)
	}
	return candidates[0]
}

func least(candidates []Candidate, rule func(Candidate) int64) []Candidate {
	var best []Candidate
	lowest := int64(math.MaxInt64)
	for _, c := range candidates {
		value := rule(c)
		if value < lowest {
			lowest, best = value, nil
		}
		if value == lowest {
			best = append(best, c)
		}
	}
	return best
}

// sumOfPriorities shifts each to be positive, lest two pods of negative
// priority count as less than one.
func sumOfPriorities(c Candidate) int64 {
	var sum int64
	for _, p := range c.Victims {
		sum += int64(p.Priority) + math.MaxInt32 + 1
	}
	return sum
}

// earliestStart of the victims of highest priority, in nanoseconds. Pods that
// have not started count as the latest.
func earliestStart(c Candidate) int64 {
	earliest := time.Unix(0, math.MaxInt64)
	for _, p := range c.Victims {
		if start := p.Pod.Status.StartTime; p.Priority == c.Victims[0].Priority && start != nil && start.Time.Before(earliest) {
			earliest = start.Time
		}
	}
	return earliest.UnixNano()
}
