package printers

import (
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func priorityClassColumns() *Columns {
	doc := schedulingv1.PriorityClass{}.SwaggerDoc()
	return columns(func(c *schedulingv1.PriorityClass, now time.Time) []any {
		return []any{c.Name, c.Value, c.GlobalDefault, ageOf(c, now), word(c.PreemptionPolicy, "")}
	},
		name(), number("Value", doc["value"]), boolean("Global-Default", doc["globalDefault"]), age(),
		text("PreemptionPolicy", doc["preemptionPolicy"]),
	)
}

func runtimeClassColumns() *Columns {
	return columns(func(c *nodev1.RuntimeClass, now time.Time) []any {
		return []any{c.Name, c.Handler, ageOf(c, now)}
	},
		// Kubernetes looks the description up in the wrong type and finds none.
		name(), text("Handler", metav1.ObjectMeta{}.SwaggerDoc()["handler"]), age(),
	)
}

func flowSchemaColumns() *Columns {
	spec := flowcontrolv1.FlowSchemaSpec{}.SwaggerDoc()
	return columns(func(f *flowcontrolv1.FlowSchema, now time.Time) []any {
		method, dangling := none, "?"
		if m := f.Spec.DistinguisherMethod; m != nil {
			method = string(m.Type)
		}
		for _, c := range f.Status.Conditions {
			if c.Type == flowcontrolv1.FlowSchemaConditionDangling {
				dangling = string(c.Status)
				break
			}
		}
		return []any{f.Name, f.Spec.PriorityLevelConfiguration.Name, f.Spec.MatchingPrecedence, method, ageOf(f, now), dangling}
	},
		name(), text("PriorityLevel", flowcontrolv1.PriorityLevelConfigurationReference{}.SwaggerDoc()["name"]),
		text("MatchingPrecedence", spec["matchingPrecedence"]), text("DistinguisherMethod", spec["distinguisherMethod"]), age(),
		text("MissingPL", "references a broken or non-existent PriorityLevelConfiguration"),
	)
}

func priorityLevelColumns() *Columns {
	queuing := flowcontrolv1.QueuingConfiguration{}.SwaggerDoc()
	return columns(func(p *flowcontrolv1.PriorityLevelConfiguration, now time.Time) []any {
		var shares, queues, hand, length any = none, none, none, none
		if l := p.Spec.Limited; l != nil {
			if l.NominalConcurrencyShares != nil {
				shares = *l.NominalConcurrencyShares
			}
			if q := l.LimitResponse.Queuing; q != nil {
				queues, hand, length = q.Queues, q.HandSize, q.QueueLengthLimit
			}
		}
		return []any{p.Name, string(p.Spec.Type), shares, queues, hand, length, ageOf(p, now)}
	},
		name(), text("Type", flowcontrolv1.PriorityLevelConfigurationSpec{}.SwaggerDoc()["type"]),
		text("NominalConcurrencyShares", flowcontrolv1.LimitedPriorityLevelConfiguration{}.SwaggerDoc()["nominalConcurrencyShares"]),
		text("Queues", queuing["queues"]), text("HandSize", queuing["handSize"]), text("QueueLengthLimit", queuing["queueLengthLimit"]), age(),
	)
}
