package nodeports_test

import (
	"testing"

	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/nodeports"
)

func TestFits(t *testing.T) {
	node := frameworktest.NodeInfo(t, "{}",
		frameworktest.Placed(t, "spec: {containers: [{ports: [{hostPort: 80}]}], initContainers: [{restartPolicy: Always, ports: [{hostPort: 81}]}, {ports: [{hostPort: 82}]}]}"))
	for ports, want := range map[string]bool{
		"[{containerPort: 80}]":               true,
		"[{hostPort: 80}]":                    false,
		"[{hostPort: 80, protocol: UDP}]":     true,
		"[{hostPort: 80, hostIP: 192.0.2.1}]": false,
		"[{hostPort: 90}, {hostPort: 81}]":    false, // a sidecar's
		"[{hostPort: 82}]":                    true,  // an init container's, which has ended
	} {
		pod := frameworktest.Pending(t, "spec: {containers: [{ports: "+ports+"}]}")
		if got := nodeports.Fits(pod.HostPorts, node.HostPorts); got != want {
			t.Errorf("%s: got %v, want %v", ports, got, want)
		}
	}
}
