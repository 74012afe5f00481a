package strategy

import "testing"

func TestService(t *testing.T) {
	const (
		clusterIP = "{type: ClusterIP, clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack, ports: [{name: a, port: 80}]}"
		nodePort  = "{type: NodePort, externalTrafficPolicy: Cluster, clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack, ports: [{name: a, port: 80, nodePort: 30001}, {name: b, port: 81, nodePort: 30002}]}"
		balancer  = "{type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30009, allocateLoadBalancerNodePorts: true, clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack, ports: [{name: a, port: 80, nodePort: 30001}]}"
	)
	for _, test := range []struct {
		name, spec, old, want string
	}{
		{
			name: "new", spec: "{type: ClusterIP, selector: {a: b}}",
			want: "{ipFamilyPolicy: SingleStack, ipFamilies: [IPv4], clusterIPs: null}",
		}, {
			name: "address asked for", spec: "{type: ClusterIP, clusterIP: 10.96.0.9}",
			want: "{clusterIPs: [10.96.0.9]}",
		}, {
			name: "headless", spec: "{type: ClusterIP, clusterIP: None, selector: {a: b}}",
			want: "{clusterIPs: [None], ipFamilyPolicy: SingleStack, ipFamilies: [IPv4]}",
		}, {
			name: "headless by hand", spec: "{type: ClusterIP, clusterIP: None}",
			want: "{clusterIPs: [None], ipFamilyPolicy: RequireDualStack, ipFamilies: [IPv4, IPv6]}",
		}, {
			name: "external name", spec: "{type: ExternalName, externalName: example.com}",
			want: "{ipFamilyPolicy: null, ipFamilies: null}",
		}, {
			name: "same manifest again", spec: "{type: ClusterIP, ports: [{name: a, port: 80}]}", old: clusterIP,
			want: clusterIP,
		}, {
			name: "policy is kept", spec: "{type: ClusterIP}",
			old:  "{type: ClusterIP, clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7], ipFamilies: [IPv4], ipFamilyPolicy: PreferDualStack}",
			want: "{ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv4]}",
		}, {
			name: "node ports by name", spec: "{type: NodePort, ports: [{name: b, port: 81}, {name: a, port: 82}, {name: c, port: 83}]}", old: nodePort,
			want: "{ports: [{name: b, nodePort: 30002}, {name: a, nodePort: 30001}, {name: c, nodePort: null}]}",
		}, {
			name: "node port moved by hand", spec: "{type: NodePort, ports: [{name: b, port: 81, nodePort: 30001}, {name: a, port: 82}]}", old: nodePort,
			want: "{ports: [{name: b, nodePort: 30001}, {name: a, nodePort: null}]}",
		}, {
			name: "node port to cluster address",
			spec: "{type: ClusterIP, externalTrafficPolicy: Cluster, clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7], ports: [{name: a, port: 80, nodePort: 30001}]}", old: nodePort,
			want: "{externalTrafficPolicy: null, clusterIP: 10.96.0.7, ports: [{nodePort: null}]}",
		}, {
			name: "cluster address to external name",
			spec: "{type: ExternalName, externalName: example.com, clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack}", old: clusterIP,
			want: "{clusterIP: null, clusterIPs: null, ipFamilies: null, ipFamilyPolicy: null}",
		}, {
			name: "balancer to cluster address",
			spec: "{type: ClusterIP, externalTrafficPolicy: Local, healthCheckNodePort: 30009, allocateLoadBalancerNodePorts: true, ports: [{name: a, port: 80, nodePort: 30001}]}", old: balancer,
			want: "{externalTrafficPolicy: null, healthCheckNodePort: null, allocateLoadBalancerNodePorts: null, ports: [{nodePort: null}]}",
		}, {
			name: "address changed", spec: "{type: ClusterIP, clusterIP: 10.96.0.8, clusterIPs: [10.96.0.7]}", old: clusterIP,
			want: "{clusterIPs: [10.96.0.8]}", // for validation to refuse
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			old := ""
			if test.old != "" {
				old = "spec: " + test.old
			}
			got := on(Service)([]byte("spec: "+test.spec), []byte(old))
			if difference := lacks("", tree(t, "spec: "+test.want), tree(t, string(marshal(t, got)))); difference != "" {
				t.Error(difference)
			}
		})
	}
}
