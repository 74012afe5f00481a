package fakelet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNewNode(t *testing.T) {
	var zones []string
	for i := range 4 {
		zones = append(zones, newNode(i).Labels[corev1.LabelTopologyZone])
	}
	if got := strings.Join(zones, " "); got != "zone-a zone-b zone-c zone-a" {
		t.Errorf("zones %s", got)
	}
	node := newNode(2)
	s := nodeStatus(node, "172.18.0.4", epoch)
	if node.Name != "node-3" || node.Labels[corev1.LabelHostname] != "node-3" || !isPlayed(node) {
		t.Errorf("name %s, labels %v, annotations %v", node.Name, node.Labels, node.Annotations)
	}
	if got := fmt.Sprintf("%s %s %s", s.Capacity.Cpu(), s.Capacity.Memory(), s.Allocatable.Pods()); got != "4 8Gi 110" {
		t.Errorf("sizes %s", got)
	}
	node.Status = s
	if readiness(node) != corev1.ConditionTrue || addressOf(node) != "172.18.0.4" {
		t.Errorf("Ready is %q, address %q", readiness(node), addressOf(node))
	}
}

func TestNodeStatusKeepsWhatIsThere(t *testing.T) {
	old := metav1.NewTime(epoch.Add(-time.Hour))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "big"}, Status: corev1.NodeStatus{
		Capacity:  corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64"), "example.com/gpu": resource.MustParse("8")},
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.1"}},
		Conditions: []corev1.NodeCondition{
			{Type: "Other", Status: corev1.ConditionTrue},
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: old},
			{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue, LastTransitionTime: old},
		},
	}}
	s := nodeStatus(node, "172.18.0.9", epoch)
	gpus := s.Allocatable["example.com/gpu"]
	if s.Capacity.Cpu().String() != "64" || gpus.String() != "8" || addressOf(&corev1.Node{Status: s}) != "192.0.2.1" {
		t.Errorf("capacity %v, allocatable %v, addresses %v", s.Capacity, s.Allocatable, s.Addresses)
	}
	var got []string
	for _, c := range s.Conditions {
		got = append(got, fmt.Sprintf("%s=%s@%s", c.Type, c.Status, epoch.Sub(c.LastTransitionTime.Time)))
	}
	for _, want := range []string{"Other=True", "Ready=True@1h0m0s", "DiskPressure=False@0s", "PIDPressure=False@0s"} {
		if !strings.Contains(strings.Join(got, " "), want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
}

// The renewals of many nodes are spread over the period, and none is missed.
func TestNextTurn(t *testing.T) {
	bySecond := map[int]int{}
	for i := range 1000 {
		name := fmt.Sprintf("node-%d", i)
		first := nextTurn(name, renewEvery, epoch)
		if wait := first.Sub(epoch); wait <= 0 || wait > renewEvery {
			t.Fatalf("%s is due after %s", name, wait)
		}
		if second := nextTurn(name, renewEvery, first); second.Sub(first) != renewEvery {
			t.Fatalf("%s is due again after %s", name, second.Sub(first))
		}
		bySecond[int(first.Sub(epoch).Seconds())]++
	}
	for second := range int(renewEvery.Seconds()) {
		if n := bySecond[second]; n < 50 || n > 150 {
			t.Errorf("%d of 1000 renewals in second %d", n, second)
		}
	}
}
