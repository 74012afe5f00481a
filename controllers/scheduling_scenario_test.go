package controllers_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Deployment that spreads its pods by template hash is even on the nodes
// after each of many rollouts, and none of them gets stuck.
func TestSpreadHoldsThroughRollouts(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		d := web(5)
		d.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: d.Spec.Selector.MatchLabels}, MatchLabelKeys: []string{"pod-template-hash"},
		}}
		c.create(d)
		for restart := range 20 {
			c.patch("web", fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"restart":"%d"}}}}}`, restart))
			c.waitRolledOut("web")
			c.settle(time.Minute)
			on := map[string]int{"node-1": 0, "node-2": 0, "node-3": 0}
			for _, pod := range c.pods("default") {
				on[pod.Spec.NodeName]++
			}
			least, most := 5, 0
			for _, n := range on {
				least, most = min(least, n), max(most, n)
			}
			if most-least > 1 {
				t.Fatalf("after restart %d the pods are on %v", restart, on)
			}
		}
	})
}
