package fakelet

import (
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	// fakeAnnotation, "true" on a Node, asks for it to be played.
	fakeAnnotation = "kubesim.io/fake"
	// KubeletAnnotation on a Node says how its kubelet is: stopped or partitioned, so
	// that nothing is heard of it, or slow.
	KubeletAnnotation  = "kubesim.io/kubelet"
	KubeletStopped     = "stopped"
	KubeletPartitioned = "partitioned"
	KubeletSlow        = "slow"
	// slowDelay is what a slow node takes longer to create containers.
	slowDelay = 10 * time.Second

	// silentLook is how often a kubelet that Config.Silent names asks whether it still does.
	silentLook = time.Second

	// addressAnnotation says where the kubelet of a Node answers, since its address
	// leads nowhere.
	addressAnnotation = "kubesim.io/kubelet-address"

	kubeletVersion = "v1.37.2"
	kubeletPort    = 10250

	// A kubelet's defaults: the Lease lasts nodeLeaseDurationSeconds and is renewed
	// four times in it; a status that stays the same is reported now and then.
	leaseSeconds = 40
	renewEvery   = leaseSeconds * time.Second / 4
	reportEvery  = 5 * time.Minute
)

// off is true for a kubelet that does nothing, or of which nothing is heard.
func off(mode string) bool { return mode == KubeletStopped || mode == KubeletPartitioned }

// isPlayed is true for a Node that this process stands for.
func isPlayed(node *corev1.Node) bool { return node.Annotations[fakeAnnotation] == "true" }

// newNode is the i-th of the nodes that are made at start, counted from 0.
func newNode(i int) *corev1.Node {
	return NewNode(fmt.Sprintf("node-%d", i+1), "zone-"+string(rune('a'+i%3)))
}

// NewNode is a Node that asks to be played.
func NewNode(name, zone string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        name,
		Annotations: map[string]string{fakeAnnotation: "true"},
		Labels: map[string]string{
			corev1.LabelHostname:       name,
			corev1.LabelOSStable:       "linux",
			corev1.LabelArchStable:     "amd64",
			corev1.LabelTopologyRegion: "local",
			corev1.LabelTopologyZone:   zone,
		},
	}}
}

// nodeStatus is what a healthy kubelet reports. Sizes and addresses that are there
// already, such as those of a node that a user made, are kept.
func nodeStatus(node *corev1.Node, hostIP string, now time.Time) corev1.NodeStatus {
	s := *node.Status.DeepCopy()
	if len(s.Capacity) == 0 {
		s.Capacity = defaultCapacity()
	}
	if len(s.Allocatable) == 0 {
		s.Allocatable = s.Capacity.DeepCopy()
	}
	if addressOf(node) == "" {
		s.Addresses = append([]corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: hostIP}}, s.Addresses...)
	}
	if !slices.ContainsFunc(s.Addresses, func(a corev1.NodeAddress) bool { return a.Type == corev1.NodeHostName }) {
		s.Addresses = append(s.Addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: node.Name})
	}
	if s.NodeInfo.KubeletVersion == "" {
		s.NodeInfo = nodeInfo(node.Name)
	}
	s.DaemonEndpoints.KubeletEndpoint.Port = kubeletPort
	s.Conditions = nodeConditions(s.Conditions, pressures(node), metav1.NewTime(now).Rfc3339Copy())
	return s
}

func defaultCapacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("4"),
		corev1.ResourceMemory:           resource.MustParse("8Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
	}
}

// nodeInfo describes a made-up machine; its identifiers follow from the name.
func nodeInfo(name string) corev1.NodeSystemInfo {
	id := sha256.Sum256([]byte(name))
	return corev1.NodeSystemInfo{
		MachineID:               fmt.Sprintf("%x", id[:16]),
		SystemUUID:              fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16]),
		BootID:                  fmt.Sprintf("%x-%x-%x-%x-%x", id[16:20], id[20:22], id[22:24], id[24:26], id[26:32]),
		KernelVersion:           "6.12.0-kubesim",
		OSImage:                 "kubesim",
		ContainerRuntimeVersion: "containerd://2.2.0",
		KubeletVersion:          kubeletVersion,
		OperatingSystem:         "linux",
		Architecture:            "amd64",
	}
}

// nodeConditions are those of a healthy kubelet, in its order, in place of older
// ones; other types stay as they are.
func nodeConditions(old []corev1.NodeCondition, short []string, now metav1.Time) []corev1.NodeCondition {
	own := []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"},
	}
	for i, what := range []string{"memory", "disk", "pid"} {
		if slices.Contains(short, what) {
			own[i].Status = corev1.ConditionTrue
			own[i].Reason = []string{"KubeletHasInsufficientMemory", "KubeletHasDiskPressure", "KubeletHasInsufficientPID"}[i]
			own[i].Message = []string{"kubelet has insufficient memory available", "kubelet has disk pressure", "kubelet has insufficient PID available"}[i]
		}
	}
	conditions := slices.Clone(old)
	for _, c := range own {
		c.LastHeartbeatTime, c.LastTransitionTime = now, now
		at := slices.IndexFunc(conditions, func(o corev1.NodeCondition) bool { return o.Type == c.Type })
		if at < 0 {
			conditions = append(conditions, c)
			continue
		}
		if conditions[at].Status == c.Status {
			c.LastTransitionTime = conditions[at].LastTransitionTime
		}
		conditions[at] = c
	}
	return conditions
}

// pressureChanged is true when the conditions do not say what the node is short of.
func pressureChanged(node *corev1.Node) bool {
	short := pressures(node)
	for what, condition := range map[string]corev1.NodeConditionType{"memory": corev1.NodeMemoryPressure, "disk": corev1.NodeDiskPressure, "pid": corev1.NodePIDPressure} {
		for _, c := range node.Status.Conditions {
			if c.Type == condition && (c.Status == corev1.ConditionTrue) != slices.Contains(short, what) {
				return true
			}
		}
	}
	return false
}

// readiness is a node's Ready condition, "" if it has none.
func readiness(node *corev1.Node) corev1.ConditionStatus {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}

// addressOf is a node's InternalIP, "" if it has none.
func addressOf(node *corev1.Node) string {
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}

// newLease is a node's first heartbeat.
func newLease(node *corev1.Node, now time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: node.Name, Namespace: corev1.NamespaceNodeLease,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &node.Name, LeaseDurationSeconds: ptr.To[int32](leaseSeconds), RenewTime: ptr.To(metav1.NewMicroTime(now.Truncate(time.Microsecond))), // as it is stored
		},
	}
}

// nextTurn is the node's next turn of a period after now. Each node has a phase
// of its own, so that the writes of many nodes spread over the period.
func nextTurn(name string, period time.Duration, now time.Time) time.Time {
	h := fnv.New64a()
	h.Write([]byte(name))
	phase := time.Duration(h.Sum64() % uint64(period))
	turn := now.Truncate(period).Add(phase)
	if !turn.After(now) {
		turn = turn.Add(period)
	}
	return turn
}
