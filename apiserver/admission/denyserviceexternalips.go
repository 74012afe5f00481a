package admission

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// DenyServiceExternalIPs keeps users from claiming other people's addresses.
type DenyServiceExternalIPs struct{}

// Name of the plugin.
func (*DenyServiceExternalIPs) Name() string { return "DenyServiceExternalIPs" }

// Validate refuses external addresses that the Service did not have before.
func (*DenyServiceExternalIPs) Validate(_ context.Context, a *Attributes) error {
	if (a.Verb != Create && a.Verb != Update) || !a.is(group("", "services")) {
		return nil
	}
	var before []string
	if a.OldObject != nil {
		before = a.OldObject.(*corev1.Service).Spec.ExternalIPs
	}
	for _, ip := range a.Object.(*corev1.Service).Spec.ExternalIPs {
		if !slices.Contains(before, ip) {
			return forbidden(a, errors.New("Use of external IPs is denied by admission control.")) //nolint:staticcheck // the text that Kubernetes answers with
		}
	}
	return nil
}
