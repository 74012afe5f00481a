package printers

import (
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
)

func resourceClaimColumns() *Columns {
	return columns(func(c *resourcev1.ResourceClaim, now time.Time) []any {
		return []any{c.Name, claimState(c), ageOf(c, now)}
	},
		name(), text("State", "A summary of the current state (allocated, pending, reserved, etc.)."), age(),
	)
}

func claimState(c *resourcev1.ResourceClaim) string {
	var states []string
	if c.DeletionTimestamp != nil {
		states = append(states, "deleted")
	}
	switch {
	case c.Status.Allocation != nil && len(c.Status.ReservedFor) > 0:
		states = append(states, "allocated", "reserved")
	case c.Status.Allocation != nil:
		states = append(states, "allocated")
	case c.DeletionTimestamp == nil:
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}

func resourceSliceColumns() *Columns {
	spec := resourcev1.ResourceSliceSpec{}.SwaggerDoc()
	return columns(func(s *resourcev1.ResourceSlice, now time.Time) []any {
		return []any{s.Name, value(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name, ageOf(s, now)}
	},
		name(), text("Node", spec["nodeName"]), text("Driver", spec["driver"]), text("Pool", resourcev1.ResourcePool{}.SwaggerDoc()["name"]), age(),
	)
}

func deviceTaintRuleColumns() *Columns {
	doc := resourcev1.DeviceTaint{}.SwaggerDoc()
	return columns(func(r *resourcev1.DeviceTaintRule, now time.Time) []any {
		taint, added := r.Spec.Taint, ""
		if taint.TimeAdded != nil {
			added = since(*taint.TimeAdded, now)
		}
		return []any{r.Name, taint.Key, taint.Value, string(taint.Effect), added, ageOf(r, now)}
	},
		name(), text("Key", doc["key"]), text("Value", doc["value"]), text("Effect", doc["effect"]),
		text("TimeAdded", doc["timeAdded"]), age(),
	)
}
