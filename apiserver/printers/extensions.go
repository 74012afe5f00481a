package printers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func apiServiceColumns() *Columns {
	return columns(func(s *apiregistrationv1.APIService, now time.Time) []any {
		service := "Local"
		if ref := s.Spec.Service; ref != nil {
			service = ref.Namespace + "/" + ref.Name
		}
		return []any{s.Name, service, availability(s), ageOf(s, now)}
	},
		name(), text("Service", "The reference to the service that hosts this API endpoint."),
		text("Available", "Whether this service is available."), age(),
	)
}

func availability(s *apiregistrationv1.APIService) string {
	for _, c := range s.Status.Conditions {
		if c.Type != apiregistrationv1.Available {
			continue
		}
		if c.Status == apiregistrationv1.ConditionTrue || c.Reason == "" {
			return string(c.Status)
		}
		return fmt.Sprintf("%s (%s)", c.Status, c.Reason)
	}
	return string(apiregistrationv1.ConditionUnknown)
}

func customResourceDefinitionColumns() *Columns {
	return columns(func(d *apiextensionsv1.CustomResourceDefinition, _ time.Time) []any {
		established := slices.ContainsFunc(d.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
			return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
		})
		return []any{
			d.Name, string(d.Spec.Scope), servedVersions(d), created(d),
			d.Spec.Group, d.Spec.Names.Kind, strings.Join(d.Spec.Names.ShortNames, ","), established,
		}
	},
		name(), text("Scope", "Cluster/Namespaced"), text("Versions", "Served versions"), createdAt(),
		wide(text("Group", "API group")), wide(text("Kind", "CustomResource kind")),
		wide(text("ShortNames", "Short names")), wide(boolean("Established", "Established status")),
	)
}

func servedVersions(d *apiextensionsv1.CustomResourceDefinition) string {
	var versions []string
	for _, v := range d.Spec.Versions {
		switch {
		case v.Served && v.Storage:
			versions = append(versions, v.Name+"(storage)")
		case v.Served:
			versions = append(versions, v.Name)
		}
	}
	slices.Sort(versions)
	return strings.Join(versions, ",")
}

// createdAt is the time of creation itself, not the age.
func createdAt() metav1.TableColumnDefinition {
	return column("date", "Created At", metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"])
}

func created(obj metav1.Object) string {
	return obj.GetCreationTimestamp().UTC().Format(time.RFC3339)
}
