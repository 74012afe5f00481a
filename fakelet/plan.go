package fakelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/fakelet/runtime"
)

// planOf is what a container of a pod will do.
func planOf(pod *corev1.Pod, c *corev1.Container) runtime.Plan {
	r := runtime.Request{
		Image: imageName(c.Image), Command: expandAll(pod, c, c.Command), Args: expandAll(pod, c, c.Args),
		Job: worksOnce(pod, c), Stdin: c.Stdin,
		Env: func(name string) string { return literalEnv(c, name) },
	}
	for _, port := range c.Ports {
		r.Ports = append(r.Ports, int(port.ContainerPort))
	}
	return runtime.PlanOf(r)
}

// worksOnce is true for a container that is expected to end: one of a Job's pod,
// or an init container that is no sidecar.
func worksOnce(pod *corev1.Pod, c *corev1.Container) bool {
	if slices.ContainsFunc(pod.Spec.InitContainers, func(i corev1.Container) bool { return i.Name == c.Name }) {
		return !isSidecar(c)
	}
	return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Job" && o.Controller != nil && *o.Controller })
}

// literalEnv is a variable's value, or that it comes from somewhere.
func literalEnv(c *corev1.Container, name string) string {
	for _, e := range c.Env {
		if e.Name != name {
			continue
		}
		if e.ValueFrom != nil {
			return "from elsewhere"
		}
		return e.Value
	}
	if len(c.EnvFrom) > 0 {
		return "from elsewhere"
	}
	return ""
}

// expandAll replaces $(NAME) by literal variables of the container, which is as
// much as a plan needs; what runs has all variables replaced, see environment.
func expandAll(_ *corev1.Pod, c *corev1.Container, words []string) []string {
	if len(words) == 0 || len(c.Env) == 0 {
		return words
	}
	env := map[string]string{}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			env[e.Name] = e.Value
		}
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = expandVariables(w, env)
	}
	return out
}
