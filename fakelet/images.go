package fakelet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// imageName is a container's image with registry and tag, as containerd reports it.
func imageName(name string) string {
	first, _, ok := strings.Cut(name, "/")
	switch {
	case !ok:
		name = "docker.io/library/" + name
	case !strings.ContainsAny(first, ".:") && first != "localhost":
		name = "docker.io/" + name
	}
	if last := name[strings.LastIndex(name, "/")+1:]; !strings.ContainsAny(last, ":@") {
		name += ":latest"
	}
	return name
}

// imageID is the image by a digest; one made up from its name, if that has none.
func imageID(name string) string {
	name = imageName(name)
	repository, digest, ok := strings.Cut(name, "@")
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository = repository[:i]
	}
	if !ok {
		sum := sha256.Sum256([]byte(name))
		digest = "sha256:" + hex.EncodeToString(sum[:])
	}
	return repository + "@" + digest
}

// containerID names one run of a container.
func containerID(pod *corev1.Pod, c *corev1.Container, restarts int32) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", pod.UID, c.Name, restarts))
	return "containerd://" + hex.EncodeToString(sum[:])
}

// setResources reports what a container was given, and how its volumes are mounted.
func setResources(c *corev1.Container, cs *corev1.ContainerStatus) {
	cs.Resources, cs.AllocatedResources = nil, nil
	if len(c.Resources.Requests)+len(c.Resources.Limits) > 0 {
		cs.Resources = &corev1.ResourceRequirements{Requests: c.Resources.Requests.DeepCopy(), Limits: c.Resources.Limits.DeepCopy()}
		cs.AllocatedResources = c.Resources.Requests.DeepCopy()
	}
	cs.VolumeMounts = nil
	for _, m := range c.VolumeMounts {
		mount := corev1.VolumeMountStatus{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly}
		if m.ReadOnly {
			disabled := corev1.RecursiveReadOnlyDisabled
			mount.RecursiveReadOnly = &disabled
		}
		cs.VolumeMounts = append(cs.VolumeMounts, mount)
	}
}
