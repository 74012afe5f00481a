package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/itchyny/gojq"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Object is a Pod or a Node.
type Object struct {
	Kind string
	Meta metav1.Object
	Data map[string]any // as JSON
}

// NewObject prepares an object for any number of questions.
func NewObject(kind string, obj metav1.Object) (Object, error) {
	body, err := json.Marshal(obj)
	if err != nil {
		return Object{}, err
	}
	o := Object{Kind: kind, Meta: obj}
	return o, json.Unmarshal(body, &o.Data)
}

// For tells whether there are Stages for a kind.
func (s Stages) For(kind string) bool {
	return slices.ContainsFunc(s, func(stage *Stage) bool { return stage.Kind == kind })
}

// Choose draws one of the Stages that match an object, nil if none does. random
// returns a number from 0 to below n.
func (s Stages) Choose(ctx context.Context, o Object, random func(n int64) int64) *Stage {
	var matching Stages
	var weights []int64
	var total int64
	for _, stage := range s {
		if stage.Matches(ctx, o) {
			w := max(0, stage.weight(ctx, o))
			matching, weights, total = append(matching, stage), append(weights, w), total+w
		}
	}
	switch {
	case len(matching) == 0:
		return nil
	case len(matching) == 1:
		return matching[0]
	case total == 0:
		return matching[random(int64(len(matching)))]
	}
	at := random(total)
	for i, w := range weights {
		if at -= w; at < 0 {
			return matching[i]
		}
	}
	return nil // not reached: the weights add up to total
}

// Matches tells whether the Stage is for the object as it is.
func (s *Stage) Matches(ctx context.Context, o Object) bool {
	if s.Kind != o.Kind || s.spec.Selector == nil ||
		!s.labels.Matches(labels.Set(o.Meta.GetLabels())) || !s.annotations.Matches(labels.Set(o.Meta.GetAnnotations())) {
		return false
	}
	for i, r := range s.spec.Selector.MatchExpressions {
		found := values(ctx, s.keys[i], o)
		in := slices.ContainsFunc(found, func(v any) bool { return slices.Contains(r.Values, fmt.Sprint(v)) })
		switch r.Operator {
		case "In":
			if !in {
				return false
			}
		case "NotIn":
			if in {
				return false
			}
		case "Exists":
			if len(found) == 0 {
				return false
			}
		case "DoesNotExist":
			if len(found) > 0 {
				return false
			}
		}
	}
	return true
}

// evaluationLimit bounds a program, which may be endless.
const evaluationLimit = 1000

// values are what a program makes of an object, without nulls.
func values(ctx context.Context, code *gojq.Code, o Object) []any {
	var found []any
	results := code.RunWithContext(ctx, o.Data)
	for range evaluationLimit {
		v, more := results.Next()
		if _, failed := v.(error); failed || !more {
			break
		}
		if v != nil {
			found = append(found, v)
		}
	}
	return found
}

func (s *Stage) weight(ctx context.Context, o Object) int64 {
	if s.weightFrom != nil {
		for _, v := range values(ctx, s.weightFrom, o) {
			if n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64); err == nil {
				return n
			}
		}
	}
	return s.spec.Weight
}

// Delay is how long the Stage waits on an object.
func (s *Stage) Delay(ctx context.Context, o Object, now time.Time, random func(n int64) int64) time.Duration {
	d := s.spec.Delay
	if d == nil {
		return 0
	}
	wait := duration(ctx, s.delayFrom, o, now, time.Duration(d.DurationMilliseconds)*time.Millisecond)
	if d.JitterDurationMilliseconds == nil && s.jitterFrom == nil {
		return max(0, wait)
	}
	jitter := wait
	if d.JitterDurationMilliseconds != nil {
		jitter = time.Duration(*d.JitterDurationMilliseconds) * time.Millisecond
	}
	if jitter = duration(ctx, s.jitterFrom, o, now, jitter); jitter > wait {
		jitter = wait + time.Duration(random(int64(jitter-wait)))
	}
	return max(0, jitter)
}

// duration is the first value that is an instant or a duration, else is returned
// without one.
func duration(ctx context.Context, code *gojq.Code, o Object, now time.Time, otherwise time.Duration) time.Duration {
	if code == nil {
		return otherwise
	}
	for _, v := range values(ctx, code, o) {
		text := fmt.Sprint(v)
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return at.Sub(now)
		}
		if d, err := time.ParseDuration(text); err == nil {
			return d
		}
	}
	return otherwise
}
