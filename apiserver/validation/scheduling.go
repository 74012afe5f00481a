package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxUserPriority = 1_000_000_000
	systemPrefix    = "system-"
)

// systemPriorities are the classes that Kubernetes makes itself.
var systemPriorities = map[string]int32{"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}

// PriorityClass holds the rules of scheduling.k8s.io/v1 PriorityClasses, whose
// value never changes.
func PriorityClass(c, old *schedulingv1.PriorityClass) field.ErrorList {
	value := field.NewPath("value")
	if old != nil {
		return concat(metaUpdate(&c.ObjectMeta, &old.ObjectMeta),
			refuse(c.Value != old.Value, field.Forbidden(value, "may not be changed in an update.")),
			unchanged(c.PreemptionPolicy, old.PreemptionPolicy, field.NewPath("preemptionPolicy")))
	}
	errs := metaCreate(&c.ObjectMeta, clusterScoped, apivalidation.NameIsDNSSubdomain)
	if strings.HasPrefix(c.Name, systemPrefix) {
		if wrong := systemPriority(c); wrong != "" {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"),
				"priority class names with '"+systemPrefix+"' prefix are reserved for system use only. error: "+wrong))
		}
	} else {
		errs = append(errs, refuse(c.Value > maxUserPriority,
			field.Forbidden(value, fmt.Sprintf("maximum allowed value of a user defined priority is %d", maxUserPriority)))...)
	}
	return append(errs, when(c.PreemptionPolicy, field.NewPath("preemptionPolicy"), func(v *corev1.PreemptionPolicy, p *field.Path) field.ErrorList {
		return preemptionPolicy(*v, p)
	})...)
}

func systemPriority(c *schedulingv1.PriorityClass) string {
	value, known := systemPriorities[c.Name]
	switch {
	case !known:
		return c.Name + " is not a known system priority class"
	case c.Value != value:
		return fmt.Sprintf("value of %v PriorityClass must be %v", c.Name, value)
	case c.GlobalDefault:
		return fmt.Sprintf("globalDefault of %v PriorityClass must be %v", c.Name, false)
	}
	return ""
}

// RuntimeClass holds the rules of node.k8s.io/v1 RuntimeClasses, whose handler
// never changes.
func RuntimeClass(c, old *nodev1.RuntimeClass) field.ErrorList {
	handler := field.NewPath("handler")
	if old != nil {
		errs := apivalidation.ValidateObjectMetaUpdate(&c.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
		return append(errs, refuse(c.Handler != old.Handler, field.Invalid(handler, nil, immutable))...)
	}
	errs := plainMeta(&c.ObjectMeta, nil)
	if c.Overhead != nil {
		errs = append(errs, overhead(c.Overhead.PodFixed, field.NewPath("overhead"))...)
	}
	if s := c.Scheduling; s != nil {
		p := field.NewPath("scheduling")
		errs = append(errs, concat(metav1validation.ValidateLabels(s.NodeSelector, p.Child("nodeSelector")),
			distinctTolerations(s.Tolerations, p.Child("tolerations")), tolerations(s.Tolerations, p.Child("tolerations")))...)
	}
	if c.Handler == "" {
		return append(errs, field.Required(handler, ""))
	}
	return append(errs, invalids(c.Handler, handler, validation.IsDNS1123Label(c.Handler))...)
}

func distinctTolerations(list []corev1.Toleration, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range list {
		for j := range i {
			if sameValue(list[i], list[j]) {
				errs = append(errs, field.Duplicate(p.Index(i), byFieldName(list[i])))
				break
			}
		}
	}
	return errs
}
