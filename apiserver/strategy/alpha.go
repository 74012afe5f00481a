package strategy

import (
	corev1 "k8s.io/api/core/v1"
)

// dropAlpha clears the fields of a pod spec whose features are off unless a
// cluster turns them on. Clients may send them; they are not stored.
func dropAlpha(spec *corev1.PodSpec) {
	spec.SchedulingGroup = nil
	spec.EvictionResponders = nil
	for i := range spec.Volumes {
		dropAlphaVolume(&spec.Volumes[i].VolumeSource)
	}
	for i := range spec.InitContainers {
		dropAlphaContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		dropAlphaContainer(&spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		dropAlphaContainer((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
}

func dropAlphaContainer(c *corev1.Container) {
	for i := range c.VolumeMounts {
		c.VolumeMounts[i].BindMountOptions = nil
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil && probe.HTTPGet != nil {
			probe.HTTPGet.Protocol = nil
		}
		if probe != nil && probe.GRPC != nil {
			probe.GRPC.Mode = nil
		}
	}
}

// dropAlphaVolume clears the owners of projected files, and the mode of an emptyDir.
func dropAlphaVolume(source *corev1.VolumeSource) {
	if s := source.EmptyDir; s != nil {
		s.Mode = nil
	}
	if s := source.Secret; s != nil {
		s.DefaultUser = nil
		dropKeyUsers(s.Items)
	}
	if s := source.ConfigMap; s != nil {
		s.DefaultUser = nil
		dropKeyUsers(s.Items)
	}
	if s := source.DownwardAPI; s != nil {
		s.DefaultUser = nil
		dropFileUsers(s.Items)
	}
	if s := source.Projected; s != nil {
		s.DefaultUser = nil
		for i := range s.Sources {
			dropProjectionUsers(&s.Sources[i])
		}
	}
}

func dropProjectionUsers(p *corev1.VolumeProjection) {
	if p.Secret != nil {
		dropKeyUsers(p.Secret.Items)
	}
	if p.ConfigMap != nil {
		dropKeyUsers(p.ConfigMap.Items)
	}
	if p.DownwardAPI != nil {
		dropFileUsers(p.DownwardAPI.Items)
	}
	if p.ServiceAccountToken != nil {
		p.ServiceAccountToken.User = nil
	}
	if p.ClusterTrustBundle != nil {
		p.ClusterTrustBundle.User = nil
	}
	if p.PodCertificate != nil {
		p.PodCertificate.User = nil
	}
}

func dropKeyUsers(items []corev1.KeyToPath) {
	for i := range items {
		items[i].User = nil
	}
}

func dropFileUsers(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		items[i].User = nil
	}
}
