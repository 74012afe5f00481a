package quota

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Sum adds two lists.
func Sum(a, b corev1.ResourceList) corev1.ResourceList {
	total := corev1.ResourceList{}
	maps.Copy(total, a)
	for name, quantity := range b {
		added := total[name].DeepCopy()
		added.Add(quantity)
		total[name] = added
	}
	return total
}

// Negative is the list with the other sign.
func Negative(list corev1.ResourceList) corev1.ResourceList {
	negated := corev1.ResourceList{}
	for name, quantity := range list {
		quantity = quantity.DeepCopy()
		quantity.Neg()
		negated[name] = quantity
	}
	return negated
}

// Mask keeps of a list what another names.
func Mask(list, names corev1.ResourceList) corev1.ResourceList {
	masked := corev1.ResourceList{}
	for name, quantity := range list {
		if _, ok := names[name]; ok {
			masked[name] = quantity
		}
	}
	return masked
}

// Missing are the names that a list lacks.
func Missing(list corev1.ResourceList, names []corev1.ResourceName) []corev1.ResourceName {
	return slices.DeleteFunc(slices.Clone(names), func(name corev1.ResourceName) bool {
		_, ok := list[name]
		return ok
	})
}

// Format writes a list as messages show it, in order.
func Format(list corev1.ResourceList) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		parts = append(parts, string(name)+"="+quantity.String())
	}
	return strings.Join(parts, ",")
}

// Join writes names in order.
func Join(names []corev1.ResourceName) string {
	var parts []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		parts = append(parts, string(name))
	}
	return strings.Join(parts, ",")
}
