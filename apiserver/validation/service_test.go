package validation_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/apiserver/defaults"
	"github.com/kubesim/kubesim/apiserver/validation"
)

func TestService(t *testing.T) {
	prepare := func(s *corev1.Service) { defaults.Service(s); addressAndPort(s) }
	check(t, true, validation.Service, prepare, []changed{
		{name: "no ports", new: `{}`, want: []string{
			`spec.ports: Required value`}},
		{name: "ports", new: `{spec: {clusterIP: 10.0.0.1, ports: [{port: 80}, {port: 80, name: A, protocol: x}, {port: 0, name: b, nodePort: 5,
			targetPort: 0}]}}`, want: []string{
			`spec.ports[0].name: Required value`,
			`spec.ports[1].name: Invalid value: "A": a lowercase RFC`,
			`spec.ports[1].protocol: Unsupported value: "x": supported values: "SCTP", "TCP", "UDP"`,
			`spec.ports[2].port: Invalid value: 0: must be between 1 and 65535, inclusive`,
			`spec.ports[2].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive`,
			"spec.ports[2].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"}},
		{name: "type", new: `{spec: {clusterIP: 10.0.0.1, type: x, sessionAffinity: z, ports: [{port: 80}]}}`, want: []string{
			`spec.sessionAffinity: Unsupported value: "z": supported values: "ClientIP", "None"`,
			`spec.type: Unsupported value: "x": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"`}},
		{name: "external name", new: `{spec: {type: ExternalName, externalName: "a_b", clusterIP: 10.0.0.1}}`, want: []string{
			`spec.clusterIPs: Forbidden: may not be set for ExternalName services`,
			`spec.externalName: Invalid value: "a_b": a lowercase RFC`}},
		{name: "headless balancer", new: `{spec: {type: NodePort, clusterIP: None, ports: [{port: 80}]}}`, want: []string{
			`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`}},
		{name: "external IPs", new: `{spec: {clusterIP: 10.0.0.1, externalIPs: [127.0.0.1, x], ports: [{port: 80}]}}`, want: []string{
			`spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`,
			`spec.externalIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`}},
		{name: "ranges", new: `{spec: {type: LoadBalancer, clusterIP: 10.0.0.1, loadBalancerSourceRanges: [10.0.0.0/40], ports: [{port: 80}]}}`, want: []string{
			`spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0/40": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`}},
		{name: "address", old: `{spec: {clusterIP: 10.0.0.1, ports: [{port: 80}]}}`, new: `{spec: {clusterIP: 10.0.0.2, ports: [{port: 80}]}}`, want: []string{
			`spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set`}},
		{name: "to external", old: `{spec: {clusterIP: 10.0.0.1, ports: [{port: 80}]}}`, new: `{spec: {type: ExternalName, externalName: a.b}}`},
	})
}

func TestNode(t *testing.T) {
	check(t, false, validation.Node, defaults.Node, []changed{
		{name: "taints", new: `{spec: {taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule, value: b}, {key: b, effect: x}]}}`, want: []string{
			`metadata.taints[1]: Duplicate value: {"Key":"a","Value":"b","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair`,
			`metadata.taints[2].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`}},
		{name: "networks", new: `{spec: {podCIDR: 10.0.0.0/24, podCIDRs: [10.0.0.0/24, 10.0.1.0/24]}}`, want: []string{
			`spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family`}},
		{name: "provider", old: `{spec: {providerID: a}}`, new: `{spec: {providerID: b}}`, want: []string{
			`spec.providerID: Forbidden: node updates may not change providerID except from "" to valid`}},
		{name: "network", old: `{spec: {podCIDR: 10.0.0.0/24, podCIDRs: [10.0.0.0/24]}}`, new: `{spec: {podCIDR: 10.1.0.0/24,
			podCIDRs: [10.1.0.0/24]}}`, want: []string{
			`spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid`}},
	})
}

func TestClaim(t *testing.T) {
	const old = `{spec: {accessModes: [ReadWriteOnce], storageClassName: s, resources: {requests: {storage: 1Gi}}}}`
	const bound = `{spec: {volumeName: v, accessModes: [ReadWriteOnce], storageClassName: s, resources: {requests: {storage: 2Gi}}}, status: {phase: Bound, capacity: {storage: 2Gi}}}`
	check(t, true, validation.PersistentVolumeClaim, defaults.PersistentVolumeClaim, []changed{
		{name: "empty", new: `{}`, want: []string{
			`spec.accessModes: Required value: at least 1 access mode is required`,
			`spec.resources[storage]: Required value`}},
		{name: "modes", new: `{spec: {accessModes: [x, ReadWriteOncePod, ReadWriteOnce], resources: {requests: {storage: 0}}}}`, want: []string{
			`spec.accessModes: Unsupported value: "x": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`,
			`spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`,
			`spec.resources[storage]: Invalid value: "0": must be greater than zero`}},
		{name: "unbound", old: old, new: `{spec: {accessModes: [ReadWriteOnce], storageClassName: s, resources: {requests: {storage: 2Gi}}}}`, want: []string{
			`spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims`}},
		{name: "grown", old: bound, new: `{spec: {volumeName: v, accessModes: [ReadWriteOnce], storageClassName: s,
			resources: {requests: {storage: 3Gi}}}, status: {phase: Bound, capacity: {storage: 2Gi}}}`},
		{name: "shrunk", old: bound, new: `{spec: {volumeName: v, accessModes: [ReadWriteOnce], storageClassName: s,
			resources: {requests: {storage: 1Gi}}}, status: {phase: Bound, capacity: {storage: 2Gi}}}`, want: []string{
			`spec.resources.requests.storage: Forbidden: field can not be less than status.capacity`}},
		{name: "class", old: bound, new: `{spec: {volumeName: v, accessModes: [ReadWriteOnce], storageClassName: t,
			resources: {requests: {storage: 2Gi}}}, status: {phase: Bound, capacity: {storage: 2Gi}}}`, want: []string{
			`spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims`}},
	})
}
