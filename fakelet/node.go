package fakelet

import (
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// fakeAnnotation on a Node that somebody else made asks for it to be played.
	fakeAnnotation = "kubesim.io/fake"
	kubeletVersion = "v1.37.2"
	leaseSeconds   = 40
)

// newNode is the i-th of the nodes that are made at start, counted from 0.
func newNode(i int) *corev1.Node {
	name := fmt.Sprintf("node-%d", i+1)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{fakeAnnotation: "true"},
			Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
				corev1.LabelTopologyRegion: "local", corev1.LabelTopologyZone: "zone-" + string(rune('a'+i%3)),
			},
		},
		Spec: corev1.NodeSpec{PodCIDR: podCIDR(i), PodCIDRs: []string{podCIDR(i)}},
	}
}

func defaultCapacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
}

// nodeStatus is what a healthy kubelet reports of a node. What is there already,
// such as the capacity of a node that a user made, is kept.
func nodeStatus(node *corev1.Node, ip string, now metav1.Time) corev1.NodeStatus {
	s := *node.Status.DeepCopy()
	if len(s.Capacity) == 0 {
		s.Capacity = defaultCapacity()
	}
	if len(s.Allocatable) == 0 {
		s.Allocatable = s.Capacity.DeepCopy()
	}
	if len(s.Addresses) == 0 {
		s.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}, {Type: corev1.NodeHostName, Address: node.Name}}
	}
	if s.NodeInfo.KubeletVersion == "" {
		s.NodeInfo = corev1.NodeSystemInfo{
			Architecture: "amd64", OperatingSystem: "linux", OSImage: "kubesim", KernelVersion: "6.12.0",
			ContainerRuntimeVersion: "containerd://2.1.0", KubeletVersion: kubeletVersion, KubeProxyVersion: "",
		}
	}
	s.DaemonEndpoints.KubeletEndpoint.Port = 10250
	s.Conditions = nodeConditions(s.Conditions, now)
	return s
}

func nodeConditions(old []corev1.NodeCondition, now metav1.Time) []corev1.NodeCondition {
	want := []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"},
	}
	for i := range want {
		want[i].LastHeartbeatTime, want[i].LastTransitionTime = now, now
		for _, o := range old {
			if o.Type == want[i].Type && o.Status == want[i].Status {
				want[i].LastTransitionTime = o.LastTransitionTime
			}
		}
	}
	return want
}

// newLease is a node's first heartbeat.
func newLease(node *corev1.Node, now metav1.MicroTime) *coordinationv1.Lease {
	seconds := int32(leaseSeconds)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: node.Name, Namespace: corev1.NamespaceNodeLease,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &node.Name, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}
}
