package job

import (
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/controllers/children"
)

var kind = batchv1.SchemeGroupVersion.WithKind("Job")

const (
	indexEnv   = "JOB_COMPLETION_INDEX"
	indexField = "metadata.labels['" + batchv1.JobCompletionIndexAnnotation + "']"
	// maxPrefix leaves room for the characters that the server adds to a name.
	maxPrefix = 58
)

// newPod makes a pod with a completion index, or unindexed.
func (s *scene) newPod(index int) *corev1.Pod {
	pod := children.NewPod(&s.job.Spec.Template, children.Owner{Object: s.job, Kind: kind})
	if !tracked(pod) {
		pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
	}
	if index == unindexed {
		return pod
	}
	text := strconv.Itoa(index)
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, text)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, text)
	suffix := "-" + text + "-"
	pod.GenerateName = s.job.Name[:min(len(s.job.Name), maxPrefix-len(suffix))] + suffix
	pod.Spec.Hostname = fmt.Sprintf("%s-%d", s.job.Name, index)
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			tellIndex(&containers[i])
		}
	}
	if s.job.Spec.BackoffLimitPerIndex != nil {
		s.countFailures(pod, s.replaceable[index])
	}
	return pod
}

// tellIndex gives a container its index as a variable, unless it sets that itself.
func tellIndex(c *corev1.Container) {
	if slices.ContainsFunc(c.Env, func(env corev1.EnvVar) bool { return env.Name == indexEnv }) {
		return
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: indexEnv, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: indexField}}})
}

// countFailures notes on a pod how often its index has failed, the pod that it
// replaces included.
func (s *scene) countFailures(pod, replaced *corev1.Pod) {
	count, ignored := 0, 0
	if replaced != nil {
		count, ignored = failures(replaced), number(replaced, batchv1.JobIndexIgnoredFailureCountAnnotation)
		if rule(s.job.Spec.PodFailurePolicy, replaced).counts {
			count++
		} else {
			ignored++
		}
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobIndexFailureCountAnnotation, strconv.Itoa(count))
	if ignored > 0 {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobIndexIgnoredFailureCountAnnotation, strconv.Itoa(ignored))
	}
}
