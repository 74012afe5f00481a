package printers

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A node's roles stand in the rest of such labels, or in the value of the older one.
const (
	roleLabelPrefix = "node-role.kubernetes.io/"
	roleLabel       = "kubernetes.io/role"
)

func nodeColumns() *Columns {
	status, info := corev1.NodeStatus{}.SwaggerDoc(), corev1.NodeSystemInfo{}.SwaggerDoc()
	return columns(func(n *corev1.Node, now time.Time) []any {
		i := n.Status.NodeInfo
		return []any{
			n.Name, nodeStatus(n), or(strings.Join(roles(n), ","), none), ageOf(n, now), i.KubeletVersion,
			nodeAddress(n, corev1.NodeInternalIP), nodeAddress(n, corev1.NodeExternalIP),
			or(i.OSImage, unknown), or(i.KernelVersion, unknown), or(i.ContainerRuntimeVersion, unknown),
		}
	},
		name(), text("Status", "The status of the node"), text("Roles", "The roles of the node"), age(),
		text("Version", info["kubeletVersion"]),
		wide(text("Internal-IP", status["addresses"])), wide(text("External-IP", status["addresses"])),
		wide(text("OS-Image", info["osImage"])), wide(text("Kernel-Version", info["kernelVersion"])),
		wide(text("Container-Runtime", info["containerRuntimeVersion"])),
	)
}

func nodeStatus(n *corev1.Node) string {
	status := "Unknown"
	for _, c := range n.Status.Conditions {
		switch {
		case c.Type != corev1.NodeReady:
		case c.Status == corev1.ConditionTrue:
			status = "Ready"
		default:
			status = "NotReady"
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

func roles(n *corev1.Node) []string {
	var out []string
	for k, v := range n.Labels {
		if role, ok := strings.CutPrefix(k, roleLabelPrefix); ok {
			out = append(out, role)
		} else if k == roleLabel {
			out = append(out, v)
		}
	}
	out = slices.DeleteFunc(out, func(role string) bool { return role == "" })
	slices.Sort(out)
	return slices.Compact(out)
}

func nodeAddress(n *corev1.Node, kind corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == kind {
			return a.Address
		}
	}
	return none
}
