package customresource

import (
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func named(plural, kind string, shortNames ...string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com",
		Names: apiextensionsv1.CustomResourceDefinitionNames{
			Plural: plural, Singular: plural + "1", Kind: kind, ListKind: kind + "List", ShortNames: shortNames,
		},
	}}
}

// settle advances a definition until nothing is left to do, and returns the reasons of its conditions.
func settle(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, others ...*apiextensionsv1.CustomResourceDefinition) map[string]string {
	t.Helper()
	for range 10 {
		if !Advance(crd, TakenBy(others), metav1.NewTime(time.Unix(0, 0))) {
			out := map[string]string{}
			for _, c := range crd.Status.Conditions {
				out[string(c.Type)] = string(c.Status) + " " + c.Reason
			}
			return out
		}
	}
	t.Fatalf("the status never rests: %v", crd.Status)
	return nil
}

func TestNamesAreAccepted(t *testing.T) {
	holder := named("widgets", "Widget", "wd")
	got := settle(t, holder)
	if got["NamesAccepted"] != "True NoConflicts" || got["Established"] != "True InitialNamesAccepted" {
		t.Errorf("conditions are %v", got)
	}
	for _, c := range []struct {
		crd    *apiextensionsv1.CustomResourceDefinition
		reason string
	}{
		{named("gadgets", "Widget"), "False ListKindConflict"}, // and the kind
		{named("widgets", "Gadget"), "False SingularConflict"}, // and the plural
		{named("gadgets", "Gadget", "gd", "wd"), "False ShortNamesConflict"},
		{named("gadgets", "Gadget", "widgets"), "False ShortNamesConflict"},
	} {
		got := settle(t, c.crd, holder)
		if got["NamesAccepted"] != c.reason || got["Established"] != "False NotAccepted" {
			t.Errorf("conditions are %v, want %s", got, c.reason)
		}
	}
}

// What a definition holds stays its own when it asks for a name that another one holds.
func TestEstablishedStays(t *testing.T) {
	holder, crd := named("widgets", "Widget"), named("gadgets", "Gadget")
	settle(t, holder)
	settle(t, crd, holder)
	crd.Spec.Names.Kind = "Widget"
	got := settle(t, crd, holder)
	if got["NamesAccepted"] != "False KindConflict" || got["Established"] != "True InitialNamesAccepted" || crd.Status.AcceptedNames.Kind != "Gadget" {
		t.Errorf("conditions are %v, the kind %s", got, crd.Status.AcceptedNames.Kind)
	}
}

func TestApproval(t *testing.T) {
	for value, want := range map[string]string{
		"": "False MissingAnnotation", "https://github.com/kubernetes/kubernetes/pull/1": "True ApprovedAnnotation",
		"unapproved, for tests": "False UnapprovedAnnotation", "yes": "False InvalidAnnotation",
	} {
		crd := named("widgets", "Widget")
		crd.Spec.Group = "widgets.k8s.io"
		if value != "" {
			crd.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: value}
		}
		if got := settle(t, crd)["KubernetesAPIApprovalPolicyConformant"]; got != want {
			t.Errorf("with %q the condition is %s, want %s", value, got, want)
		}
	}
}

// A webhook whose certificates can't be read is not called, so the definition is not established.
func TestInvalidCABundle(t *testing.T) {
	crd := named("widgets", "Widget")
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{CABundle: []byte("no")}},
	}
	if got := settle(t, crd)["Established"]; got != "False InvalidCABundle" {
		t.Errorf("Established is %s", got)
	}
}
