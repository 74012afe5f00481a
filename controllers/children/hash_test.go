package children

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTemplateHash has the hashes that a real cluster gave to this template.
func TestTemplateHash(t *testing.T) {
	grace, one := int64(30), int32(1)
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "c", Image: "nginx:1.27", ImagePullPolicy: corev1.PullIfNotPresent,
				TerminationMessagePath: corev1.TerminationMessagePathDefault, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			}},
			RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst, SchedulerName: corev1.DefaultSchedulerName,
			TerminationGracePeriodSeconds: &grace, SecurityContext: &corev1.PodSecurityContext{},
		},
	}
	if got := TemplateHash(template, nil); got != "758c848bc7" {
		t.Errorf("hash %s, want 758c848bc7", got)
	}
	if got := TemplateHash(template, &one); got != "57ddc9d844" {
		t.Errorf("hash after a collision %s, want 57ddc9d844", got)
	}
}
