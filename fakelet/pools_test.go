package fakelet

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPools(t *testing.T) {
	pools, err := ParsePools([]byte(`
pools:
- name: gpu
  count: 2
  cpu: 32
  memory: 256Gi
  pods: 20
  zones: [west-1, west-2]
  region: west
  labels: {disk: ssd}
  taints: [{key: gpu, effect: NoSchedule}]
  resources: {nvidia.com/gpu: 8}
  price: "12.50"
`))
	if err != nil || len(pools) != 1 {
		t.Fatalf("%d pools, %v", len(pools), err)
	}
	node := pools[0].node(1)
	gpus := node.Status.Allocatable["nvidia.com/gpu"]
	got := strings.Join([]string{
		node.Name, node.Labels[corev1.LabelTopologyZone], node.Labels[corev1.LabelTopologyRegion], node.Labels["disk"], node.Labels["kubesim.io/pool"],
		node.Annotations["kubesim.io/price"], node.Status.Capacity.Cpu().String(), node.Status.Capacity.Memory().String(), node.Status.Capacity.Pods().String(),
		gpus.String(), node.Spec.Taints[0].Key,
	}, " ")
	if want := "gpu-2 west-2 west ssd gpu 12.50 32 256Gi 20 8 gpu"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPoolsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"pools: [{name: UPPER, count: 1}]":                      "UPPER",
		"pools: [{name: a, count: -1}]":                         "count is -1",
		"pools: [{name: a, count: 1}, {name: a, count: 1}]":     "twice",
		"pools: [{name: a, count: 1, zone: x}]":                 `unknown field "zone"`,
		"pools: [{name: a, count: 16000}, {name: b, count: 1}]": "too many nodes",
	} {
		if _, err := ParsePools([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
