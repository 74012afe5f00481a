package framework

import v1 "k8s.io/api/core/v1"

const anyIP = "0.0.0.0"

// HostPort is a port that a container takes of its node.
type HostPort struct {
	IP       string
	Protocol v1.Protocol
	Port     int32
}

// HostPorts is a set of taken ports.
type HostPorts map[HostPort]struct{}

// Conflicts reports whether p is taken. The address 0.0.0.0 stands for all.
func (h HostPorts) Conflicts(p HostPort) bool {
	if p.IP != anyIP {
		_, exact := h[p]
		p.IP = anyIP
		_, all := h[p]
		return exact || all
	}
	for taken := range h {
		if taken.Port == p.Port && taken.Protocol == p.Protocol {
			return true
		}
	}
	return false
}

// podHostPorts lists the host ports of containers and of sidecars, which run as long.
func podHostPorts(pod *v1.Pod) []HostPort {
	var ports []HostPort
	add := func(c *v1.Container) {
		for _, p := range c.Ports {
			if p.HostPort <= 0 {
				continue
			}
			hp := HostPort{IP: p.HostIP, Protocol: p.Protocol, Port: p.HostPort}
			if hp.IP == "" {
				hp.IP = anyIP
			}
			if hp.Protocol == "" {
				hp.Protocol = v1.ProtocolTCP
			}
			ports = append(ports, hp)
		}
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return ports
}
