package printers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// aged are the columns of kinds of which only the name and the age are shown.
func aged[T interface {
	runtime.Object
	metav1.Object
}]() *Columns {
	return columns(func(obj T, now time.Time) []any { return []any{obj.GetName(), ageOf(obj, now)} }, name(), age())
}

func namespaceColumns() *Columns {
	return columns(func(n *corev1.Namespace, now time.Time) []any {
		return []any{n.Name, string(n.Status.Phase), ageOf(n, now)}
	},
		name(), text("Status", "The status of the namespace"), age(),
	)
}

func configMapColumns() *Columns {
	return columns(func(c *corev1.ConfigMap, now time.Time) []any {
		return []any{c.Name, len(c.Data) + len(c.BinaryData), ageOf(c, now)}
	},
		name(), text("Data", corev1.ConfigMap{}.SwaggerDoc()["data"]), age(),
	)
}

func secretColumns() *Columns {
	doc := corev1.Secret{}.SwaggerDoc()
	return columns(func(s *corev1.Secret, now time.Time) []any {
		return []any{s.Name, string(s.Type), len(s.Data), ageOf(s, now)}
	},
		name(), text("Type", doc["type"]), text("Data", doc["data"]), age(),
	)
}

func componentStatusColumns() *Columns {
	return columns(func(s *corev1.ComponentStatus, _ time.Time) []any {
		for _, c := range s.Conditions {
			if c.Type != corev1.ComponentHealthy {
				continue
			}
			status := "Unhealthy"
			if c.Status == corev1.ConditionTrue {
				status = "Healthy"
			}
			return []any{s.Name, status, c.Message, c.Error}
		}
		return []any{s.Name, "Unknown", "", ""}
	},
		name(), text("Status", "Status of the component conditions"), text("Message", "Message of the component conditions"),
		text("Error", "Error of the component conditions"),
	)
}

func resourceQuotaColumns() *Columns {
	return columns(func(q *corev1.ResourceQuota, now time.Time) []any {
		var requests, limits []string
		for _, resource := range slices.Sorted(maps.Keys(q.Status.Hard)) {
			used, hard := q.Status.Used[resource], q.Status.Hard[resource]
			line := fmt.Sprintf("%s: %s/%s", resource, used.String(), hard.String())
			if strings.HasPrefix(string(resource), "limits.") {
				limits = append(limits, line)
			} else {
				requests = append(requests, line)
			}
		}
		return []any{q.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), ageOf(q, now)}
	},
		name(), text("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
		text("Limit", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node."), age(),
	)
}

func leaseColumns() *Columns {
	return columns(func(l *coordinationv1.Lease, now time.Time) []any {
		return []any{l.Name, value(l.Spec.HolderIdentity, ""), ageOf(l, now)}
	},
		name(), text("Holder", coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"]), age(),
	)
}
