package validation

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	notNegative  = apivalidation.IsNegativeErrorMsg
	immutable    = apivalidation.FieldImmutableErrorMsg
	notPositive  = "must be greater than zero"
	notAnInteger = "must be an integer"
)

// concat joins the errors of independent rules in the order given.
func concat(lists ...field.ErrorList) field.ErrorList {
	return slices.Concat(lists...)
}

// each applies a rule to every element of a list, at its index.
func each[T any](list []T, p *field.Path, rule func(*T, *field.Path) field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	for i := range list {
		errs = append(errs, rule(&list[i], p.Index(i))...)
	}
	return errs
}

// when applies a rule to a part that may be absent.
func when[T any](part *T, p *field.Path, rule func(*T, *field.Path) field.ErrorList) field.ErrorList {
	if part == nil {
		return nil
	}
	return rule(part, p)
}

// refuse is the error when the condition holds, else none.
func refuse(condition bool, err *field.Error) field.ErrorList {
	if !condition {
		return nil
	}
	return field.ErrorList{err}
}

// required refuses an empty value without further words.
func required[T ~string](value T, p *field.Path) field.ErrorList {
	return refuse(value == "", field.Required(p, ""))
}

// invalids is one error for each message about the same value.
func invalids(value any, p *field.Path, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, m := range messages {
		errs = append(errs, field.Invalid(p, value, m))
	}
	return errs
}

// named checks a reference by the name rule of what it refers to.
func named(value string, p *field.Path, rule nameRule) field.ErrorList {
	return invalids(value, p, rule(value, false))
}

// requiredName is named for a reference that must not be empty.
func requiredName(value string, p *field.Path, rule nameRule) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	return named(value, p, rule)
}

func dnsLabel(value string, p *field.Path) field.ErrorList {
	return invalids(value, p, validation.IsDNS1123Label(value))
}

func dnsSubdomain(value string, p *field.Path) field.ErrorList {
	return invalids(value, p, validation.IsDNS1123Subdomain(value))
}

func qualifiedName(value string, p *field.Path) field.ErrorList {
	return invalids(value, p, validation.IsQualifiedName(value))
}

// supported refuses a value that is not among the allowed ones, which the error
// lists in the order given.
func supported[T ~string](value T, p *field.Path, allowed ...T) field.ErrorList {
	return refuse(!slices.Contains(allowed, value), field.NotSupported(p, value, allowed))
}

// oneOf is supported for a value that must be there.
func oneOf[T ~string](value T, p *field.Path, allowed ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	return supported(value, p, allowed...)
}

func nonNegative[T ~int32 | ~int64](value T, p *field.Path) field.ErrorList {
	return apivalidation.ValidateNonnegativeField(int64(value), p)
}

func optionalNonNegative[T ~int32 | ~int64](value *T, p *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	return nonNegative(*value, p)
}

func nonNegativeQuantity(q resource.Quantity, p *field.Path) field.ErrorList {
	return refuse(q.Sign() < 0, field.Invalid(p, q.String(), notNegative))
}

func positiveQuantity(q resource.Quantity, p *field.Path) field.ErrorList {
	return refuse(q.Sign() <= 0, field.Invalid(p, q.String(), notPositive))
}

func unchanged(value, old any, p *field.Path) field.ErrorList {
	return apivalidation.ValidateImmutableField(value, old, p)
}

func portNumber(port int32, p *field.Path) field.ErrorList {
	return invalids(port, p, validation.IsValidPortNum(int(port)))
}

func portNumberOrName(port intstr.IntOrString, p *field.Path) field.ErrorList {
	if port.Type == intstr.Int {
		return invalids(port.IntValue(), p, validation.IsValidPortNum(port.IntValue()))
	}
	return invalids(port.StrVal, p, validation.IsValidPortName(port.StrVal))
}

// alternative is one member of a set of which exactly one may be given.
type alternative struct {
	field  string // name under the parent, as errors about a second one show it
	set    bool
	errors func() field.ErrorList
}

// exactlyOne checks the first alternative that is set, refuses every further
// one, and asks for one when there is none. noun says what they are.
func exactlyOne(alternatives []alternative, p *field.Path, noun string) field.ErrorList {
	var errs field.ErrorList
	found := false
	for _, a := range alternatives {
		switch {
		case !a.set:
		case found:
			errs = append(errs, field.Forbidden(p.Child(a.field), "may not specify more than 1 "+noun))
		default:
			found = true
			errs = append(errs, a.errors()...)
		}
	}
	return append(errs, refuse(!found, field.Required(p, "must specify a "+noun))...)
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

func isTrue(b *bool) bool { return b != nil && *b }

// prefixed says whether a resource or finalizer name carries a domain.
func prefixed[T ~string](name T) bool { return strings.Contains(string(name), "/") }

// ipAddress accepts what Kubernetes has always accepted, canonical or not, but
// for forms that programs read differently, such as leading zeros.
func ipAddress(value string, p *field.Path) field.ErrorList {
	return validation.IsValidIPForLegacyField(p, value, true, nil)
}

// cidr is ipAddress for a network.
func cidr(value string, p *field.Path) field.ErrorList {
	return validation.IsValidCIDRForLegacyField(p, value, true, nil)
}
