package strategy

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	appArmorUnconfined      = "unconfined"
	appArmorRuntimeDefault  = "runtime/default"
	appArmorLocalhostPrefix = "localhost/"
)

// appArmorFields moves profiles that are given in the annotations of old to the
// fields that replaced them.
func appArmorFields(pod *corev1.Pod) {
	if pod.Spec.OS != nil && pod.Spec.OS.Name == corev1.Windows {
		return
	}
	var podProfile *corev1.AppArmorProfile
	if pod.Spec.SecurityContext != nil {
		podProfile = pod.Spec.SecurityContext.AppArmorProfile
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			profile := appArmorProfile(pod.Annotations[corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix+c.Name])
			hasField := c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil
			if profile == nil || hasField || reflect.DeepEqual(profile, podProfile) {
				continue
			}
			if c.SecurityContext == nil {
				c.SecurityContext = &corev1.SecurityContext{}
			}
			c.SecurityContext.AppArmorProfile = profile
		}
	}
}

// appArmorProfile reads an annotation, nil if it says nothing of use.
func appArmorProfile(annotation string) *corev1.AppArmorProfile {
	switch {
	case annotation == appArmorUnconfined:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case annotation == appArmorRuntimeDefault:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	case strings.HasPrefix(annotation, appArmorLocalhostPrefix):
		if name := strings.TrimPrefix(annotation, appArmorLocalhostPrefix); name != "" {
			return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}
		}
	}
	return nil
}
