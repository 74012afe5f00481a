package framework_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
)

func TestPodRequests(t *testing.T) {
	for name, test := range map[string]struct {
		spec        string
		cpu, memory int64
	}{
		"nothing":    {"{}", 0, 0},
		"containers": {"{containers: [{resources: {requests: {cpu: 1, memory: 1Ki}}}, {resources: {requests: {cpu: 500m}}}]}", 1500, 1024},
		"a larger init container": {
			"{containers: [{resources: {requests: {cpu: 1}}}], initContainers: [{resources: {requests: {cpu: 3}}}, {resources: {requests: {cpu: 2}}}]}", 3000, 0},
		"a sidecar counts beside the containers": {
			"{containers: [{resources: {requests: {cpu: 1}}}], initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 3}}}]}", 4000, 0},
		"an init container after a sidecar": {
			"{containers: [{resources: {requests: {cpu: 1}}}], initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}, {resources: {requests: {cpu: 2}}}]}", 3000, 0},
		"overhead": {"{containers: [{resources: {requests: {cpu: 1}}}], overhead: {cpu: 250m}}", 1250, 0},
		"pod-level": {
			"{containers: [{resources: {requests: {cpu: 1}}}], resources: {requests: {cpu: 2}}}", 2000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := framework.PodRequests(frameworktest.Pod(t, "spec: "+test.spec))
			if got.MilliCPU != test.cpu || got.Memory != test.memory {
				t.Errorf("got %d m, %d bytes, want %d m, %d bytes", got.MilliCPU, got.Memory, test.cpu, test.memory)
			}
		})
	}
}

func TestNonZeroCountsMissingRequests(t *testing.T) {
	pod := frameworktest.Placed(t, "spec: {containers: [{resources: {requests: {cpu: 1}}}, {}]}")
	if got := pod.NonZero.MilliCPU; got != 1100 {
		t.Errorf("cpu: got %d m, want 1100 m", got)
	}
	if got := pod.NonZero.Memory; got != 2*framework.DefaultMemoryRequest {
		t.Errorf("memory: got %d, want twice the default", got)
	}
}

func TestSignature(t *testing.T) {
	base := "{containers: [{resources: {requests: {cpu: 1}}}], nodeSelector: {a: b}}"
	signature := func(name, spec string) string {
		return frameworktest.Pending(t, "{metadata: {name: "+name+", labels: {name: "+name+"}}, spec: "+spec+"}").Signature
	}
	if signature("a", base) != signature("b", base) {
		t.Error("replicas differ")
	}
	for _, other := range []string{
		"{containers: [{resources: {requests: {cpu: 2}}}], nodeSelector: {a: b}}",
		"{containers: [{resources: {requests: {cpu: 1}}}], nodeSelector: {a: c}}",
		"{containers: [{resources: {requests: {cpu: 1}}}], nodeSelector: {a: b}, tolerations: [{operator: Exists}]}",
		"{containers: [{resources: {requests: {cpu: 1}}, ports: [{hostPort: 80}]}], nodeSelector: {a: b}}",
	} {
		if signature("a", base) == signature("a", other) {
			t.Errorf("%s is like %s", other, base)
		}
	}
}

func TestHostPortsConflict(t *testing.T) {
	taken := framework.HostPorts{
		{IP: "0.0.0.0", Protocol: v1.ProtocolTCP, Port: 80}:   {},
		{IP: "127.0.0.1", Protocol: v1.ProtocolTCP, Port: 81}: {},
	}
	for name, test := range map[string]struct {
		ip       string
		protocol v1.Protocol
		port     int32
		want     bool
	}{
		"same":                        {"0.0.0.0", v1.ProtocolTCP, 80, true},
		"one address of all":          {"192.0.2.1", v1.ProtocolTCP, 80, true},
		"other protocol":              {"0.0.0.0", v1.ProtocolUDP, 80, false},
		"all addresses, one is taken": {"0.0.0.0", v1.ProtocolTCP, 81, true},
		"other address":               {"192.0.2.1", v1.ProtocolTCP, 81, false},
		"other port":                  {"0.0.0.0", v1.ProtocolTCP, 82, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := taken.Conflicts(framework.HostPort{IP: test.ip, Protocol: test.protocol, Port: test.port}); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestNodeInfoCountsPodsInAndOut(t *testing.T) {
	plain := frameworktest.Placed(t, "{metadata: {name: a}, spec: {containers: [{resources: {requests: {cpu: 1, example.com/gpu: 2}}, ports: [{hostPort: 80}]}]}}")
	picky := frameworktest.Placed(t, `{metadata: {name: b}, spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}},
		volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}}`)
	node := frameworktest.NodeInfo(t, "{}", plain)
	full := node.Clone()
	full.AddPod(picky)
	if len(full.Pods) != 2 || len(full.PodsWithRequiredAntiAffinity) != 1 || full.ClaimUsers["default/c"] != 1 {
		t.Errorf("with both pods: %+v", full)
	}
	full.RemovePod(picky.Pod.UID)
	full.RemovePod(plain.Pod.UID)
	if len(full.Pods) != 0 || len(full.PodsWithRequiredAntiAffinity) != 0 || full.ClaimUsers["default/c"] != 0 ||
		full.Requested.MilliCPU != 0 || full.Requested.Scalar["example.com/gpu"] != 0 || len(full.HostPorts) != 0 {
		t.Errorf("empty again: %+v", full)
	}
	if node.Requested.MilliCPU != 1000 || node.Requested.Scalar["example.com/gpu"] != 2 || len(node.HostPorts) != 1 {
		t.Errorf("the original was changed: %+v", node)
	}
	if full.RemovePod("nobody") {
		t.Error("removed a pod that was not there")
	}
}

func TestDiagnosisMessage(t *testing.T) {
	cpu := framework.Reject("NodeResourcesFit", "Insufficient cpu")
	both := framework.Reject("NodeResourcesFit", "Insufficient cpu", "Insufficient memory")
	taint := framework.RejectForGood("TaintToleration", "node(s) had untolerated taint(s)")
	for name, test := range map[string]struct {
		statuses []*framework.Status // by node
		more     framework.Diagnosis
		want     string
	}{
		"reasons are sorted as text": {
			slices.Concat(slices.Repeat([]*framework.Status{cpu}, 10), []*framework.Status{taint, taint}),
			framework.Diagnosis{},
			"0/12 nodes are available: 10 Insufficient cpu, 2 node(s) had untolerated taint(s).",
		},
		"a node counts for each of its reasons": {
			[]*framework.Status{cpu, both, both},
			framework.Diagnosis{PostFilter: "preemption: none."},
			"0/3 nodes are available: 2 Insufficient memory, 3 Insufficient cpu. preemption: none.",
		},
		"nodes not looked at": {
			[]*framework.Status{cpu, nil, nil},
			framework.Diagnosis{Absent: taint},
			"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s).",
		},
		"rejected before any node": {
			[]*framework.Status{nil, nil, nil},
			framework.Diagnosis{PreFilter: framework.RejectForGood("VolumeBinding", "no claim"), PostFilter: "not found"},
			"0/3 nodes are available: no claim. not found",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := framework.NewDiagnosis(len(test.statuses))
			d.Absent, d.PreFilter, d.PostFilter = test.more.Absent, test.more.PreFilter, test.more.PostFilter
			for i, status := range test.statuses {
				if status != nil {
					d.Set(&framework.NodeInfo{Index: i}, status)
				}
			}
			if got := d.Message(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestSnapshotChanged(t *testing.T) {
	s := framework.NewSnapshot(frameworktest.NodeInfo(t, "metadata: {name: a}"), frameworktest.NodeInfo(t, "metadata: {name: b}"))
	start := s.Version()
	replace := func(name string) {
		n := s.Node(name).Clone()
		s.Replace(n)
	}
	replace("b")
	middle := s.Version()
	replace("a")
	if got, ok := s.Changed(start); !ok || len(got) != 2 || got[0] != 1 || got[1] != 0 {
		t.Errorf("since the start: got %v, %v", got, ok)
	}
	if got, ok := s.Changed(middle); !ok || len(got) != 1 || got[0] != 0 {
		t.Errorf("since the middle: got %v, %v", got, ok)
	}
	for range 5000 {
		replace("a")
	}
	if _, ok := s.Changed(start); ok {
		t.Error("remembers too much")
	}
	if got, ok := s.Changed(s.Version() - 10); !ok || len(got) != 10 {
		t.Errorf("the last ten: got %v, %v", got, ok)
	}
}

func TestNormalizeByMax(t *testing.T) {
	for name, test := range map[string]struct {
		scores  [3]int64
		reverse bool
		want    [3]int64
	}{
		"stretched":   {[3]int64{0, 1, 4}, false, [3]int64{0, 25, 100}},
		"turned":      {[3]int64{0, 1, 4}, true, [3]int64{100, 75, 0}},
		"zero":        {[3]int64{}, false, [3]int64{}},
		"zero turned": {[3]int64{}, true, [3]int64{100, 100, 100}},
	} {
		t.Run(name, func(t *testing.T) {
			framework.NormalizeByMax(test.scores[:], test.reverse)
			if test.scores != test.want {
				t.Errorf("got %v, want %v", test.scores, test.want)
			}
		})
	}
}
