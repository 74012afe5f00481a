package tainteviction

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestDecide(t *testing.T) {
	taint := func(key string, effect corev1.TaintEffect) corev1.Taint {
		return corev1.Taint{Key: key, Effect: effect}
	}
	tolerate := func(key string, seconds *int64) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: seconds}
	}
	a, b := taint("a", corev1.TaintEffectNoExecute), taint("b", corev1.TaintEffectNoExecute)
	for name, test := range map[string]struct {
		taints      []corev1.Taint
		tolerations []corev1.Toleration
		want        verdict
		after       time.Duration
	}{
		"no taints":                {want: stays},
		"only NoSchedule":          {taints: []corev1.Taint{taint("a", corev1.TaintEffectNoSchedule)}, want: stays},
		"not tolerated":            {taints: []corev1.Taint{a}, want: leaves},
		"tolerated for ever":       {taints: []corev1.Taint{a}, tolerations: []corev1.Toleration{tolerate("a", nil)}, want: stays},
		"one of two tolerated":     {taints: []corev1.Taint{a, b}, tolerations: []corev1.Toleration{tolerate("a", nil)}, want: leaves},
		"for a time":               {taints: []corev1.Taint{a}, tolerations: []corev1.Toleration{tolerate("a", ptr.To[int64](30))}, want: leavesSoon, after: 30 * time.Second},
		"the shortest time counts": {taints: []corev1.Taint{a, b}, tolerations: []corev1.Toleration{tolerate("a", ptr.To[int64](30)), tolerate("b", ptr.To[int64](20))}, want: leavesSoon, after: 20 * time.Second},
		"a time and for ever":      {taints: []corev1.Taint{a, b}, tolerations: []corev1.Toleration{tolerate("a", ptr.To[int64](30)), tolerate("b", nil)}, want: leavesSoon, after: 30 * time.Second},
		"for no time":              {taints: []corev1.Taint{a}, tolerations: []corev1.Toleration{tolerate("a", ptr.To[int64](0))}, want: leaves},
		"for less than no time":    {taints: []corev1.Taint{a}, tolerations: []corev1.Toleration{tolerate("a", ptr.To[int64](-5))}, want: leaves},
		"everything tolerated":     {taints: []corev1.Taint{a, b}, tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, want: stays},
	} {
		t.Run(name, func(t *testing.T) {
			if got, after := decide(test.taints, test.tolerations); got != test.want || after != test.after {
				t.Errorf("verdict %d after %v, want %d after %v", got, after, test.want, test.after)
			}
		})
	}
}
