package admission

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// checkLimits compares requests and limits with one item of a LimitRange.
func checkLimits(item *corev1.LimitRangeItem, requests, limits corev1.ResourceList) []error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(item.Min)) {
		faults = append(faults, minimum(item, name, requests, limits))
	}
	for _, name := range slices.Sorted(maps.Keys(item.Max)) {
		faults = append(faults, maximum(item, name, requests, limits))
	}
	for _, name := range slices.Sorted(maps.Keys(item.MaxLimitRequestRatio)) {
		faults = append(faults, ratio(item, name, requests, limits))
	}
	return faults
}

func minimum(item *corev1.LimitRangeItem, name corev1.ResourceName, requests, limits corev1.ResourceList) error {
	bound := item.Min[name]
	request, hasRequest := requests[name]
	limit, hasLimit := limits[name]
	switch {
	case !hasRequest:
		return fmt.Errorf("minimum %s usage per %s is %s.  No request is specified", name, item.Type, bound.String())
	case request.Cmp(bound) < 0:
		return fmt.Errorf("minimum %s usage per %s is %s, but request is %s", name, item.Type, bound.String(), request.String())
	case hasLimit && limit.Cmp(bound) < 0:
		return fmt.Errorf("minimum %s usage per %s is %s, but limit is %s", name, item.Type, bound.String(), limit.String())
	}
	return nil
}

func maximum(item *corev1.LimitRangeItem, name corev1.ResourceName, requests, limits corev1.ResourceList) error {
	bound := item.Max[name]
	request, hasRequest := requests[name]
	limit, hasLimit := limits[name]
	switch {
	case !hasLimit:
		return fmt.Errorf("maximum %s usage per %s is %s.  No limit is specified", name, item.Type, bound.String())
	case limit.Cmp(bound) > 0:
		return fmt.Errorf("maximum %s usage per %s is %s, but limit is %s", name, item.Type, bound.String(), limit.String())
	case hasRequest && request.Cmp(bound) > 0:
		return fmt.Errorf("maximum %s usage per %s is %s, but request is %s", name, item.Type, bound.String(), request.String())
	}
	return nil
}

// maximumRequest is for claims, which have no limits.
func maximumRequest(item *corev1.LimitRangeItem, name corev1.ResourceName, requests corev1.ResourceList) error {
	bound := item.Max[name]
	request, ok := requests[name]
	switch {
	case !ok:
		return fmt.Errorf("maximum %s usage per %s is %s.  No request is specified", name, item.Type, bound.String())
	case request.Cmp(bound) > 0:
		return fmt.Errorf("maximum %s usage per %s is %s, but request is %s", name, item.Type, bound.String(), request.String())
	}
	return nil
}

// ratio bounds how far a limit may exceed the request.
func ratio(item *corev1.LimitRangeItem, name corev1.ResourceName, requests, limits corev1.ResourceList) error {
	bound := item.MaxLimitRequestRatio[name]
	request, limit := requests[name], limits[name]
	switch {
	case request.IsZero():
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but no request is specified or request is 0", name, item.Type, bound.String())
	case limit.IsZero():
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but no limit is specified or limit is 0", name, item.Type, bound.String())
	}
	observed := number(limit) / number(request)
	if observed > number(bound) {
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but provided ratio is %f", name, item.Type, bound.String(), observed)
	}
	return nil
}

func number(q resource.Quantity) float64 { return q.AsApproximateFloat64() }
