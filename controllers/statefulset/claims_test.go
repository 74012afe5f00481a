package statefulset

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func withClaims(whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType) func(*appsv1.StatefulSet) {
	return func(set *appsv1.StatefulSet) {
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{"x": "y"}}}}
		set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: whenDeleted, WhenScaled: whenScaled}
	}
}

func TestRetention(t *testing.T) {
	const retain, deletes = appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	for _, test := range []struct {
		name                    string
		whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType
		replica, condemned      string // kind of the owner
	}{
		{"kept", retain, retain, "", ""},
		{"goes with the set", deletes, retain, "StatefulSet", "StatefulSet"},
		{"goes with the pod", retain, deletes, "", "Pod"},
		{"goes with either", deletes, deletes, "StatefulSet", "Pod"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScene(1, "0 1", withClaims(test.whenDeleted, test.whenScaled))
			for i, want := range []string{test.replica, test.condemned} {
				claim := claimsOf(s.set, s.pods[i])[0]
				owners, wrong := retainedBy(s.set, s.pods[i], claim)
				got := ""
				if len(owners) == 1 && *owners[0].Controller {
					got = owners[0].Kind
				}
				if got != want || wrong != (want != "") {
					t.Errorf("the claim of %s is owned by %q, want %q; changed: %t", s.pods[i].Name, got, want, wrong)
				}
				claim.OwnerReferences = owners
				if _, wrong := retainedBy(s.set, s.pods[i], claim); wrong {
					t.Error("what was set is wrong")
				}
			}
		})
	}
}

func TestRetentionLeavesAnotherController(t *testing.T) {
	yes := true
	s := newScene(1, "0", withClaims(appsv1.DeletePersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType))
	claim := claimsOf(s.set, s.pods[0])[0]
	claim.OwnerReferences = []metav1.OwnerReference{{Kind: "Other", Name: "other", UID: "other", Controller: &yes}}
	if owners, wrong := retainedBy(s.set, s.pods[0], claim); wrong {
		t.Errorf("owners %v", owners)
	}
}

func TestClaims(t *testing.T) {
	s := newScene(1, "", withClaims("", ""))
	if p := decide(s); p.words() != "create web-0, web-0 is new" || len(p.phases[0][0].pod.Spec.Volumes) != 1 || p.phases[0][0].pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != "data-web-0" {
		t.Errorf("%s: %+v", p.words(), p.phases[0][0].pod.Spec.Volumes)
	}
	claim := claimsOf(s.set, newPod(s.set, s.update, 0))[0]
	if claim.Name != "data-web-0" || claim.Labels["x"] != "y" || claim.Labels["app"] != "web" {
		t.Errorf("claim %+v", claim.ObjectMeta)
	}
	claim.DeletionTimestamp = &metav1.Time{Time: now}
	s.claim = func(string) *corev1.PersistentVolumeClaim { return claim }
	if got := decide(s).words(); got != "the old claim data-web-0 is still there" {
		t.Error(got)
	}
	s = newScene(1, "0:pending", withClaims("", ""))
	if got := decide(s).words(); got != "create the claims of web-0, web-0 is not ready" {
		t.Error(got)
	}
}
