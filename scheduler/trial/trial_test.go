package trial_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/trial"
)

// cluster has three nodes of 4 cpu: one with 1500m left, one with 500m left
// and a taint, one cordoned.
func cluster(t *testing.T) *trial.Cluster {
	t.Helper()
	s, err := sandbox.Start(t.Context(), sandbox.Config{APIOnly: true, Logger: slog.New(slog.DiscardHandler), DisableAdmissionPlugins: []string{"ServiceAccount", "TaintNodesByCondition"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	for i, spec := range []string{"{}", "{taints: [{key: x, value: z, effect: NoSchedule}]}", "{unschedulable: true}"} {
		node := frameworktest.Node(t, fmt.Sprintf("{metadata: {name: node-%d, labels: {kubernetes.io/hostname: node-%d}}, spec: %s}", i+1, i+1, spec))
		if _, err := client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, spec := range map[string]string{"a": "nodeName: node-1, containers: [{name: c, image: i, resources: {requests: {cpu: 2500m}}}]", "b": "nodeName: node-2, containers: [{name: c, image: i, resources: {requests: {cpu: 3500m}}}]"} {
		pod := frameworktest.Pod(t, fmt.Sprintf("{metadata: {name: %s, labels: {app: web}}, spec: {%s}}", name, spec))
		pod.UID = ""
		if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := trial.Read(t.Context(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFixes(t *testing.T) {
	c := cluster(t)
	cpu := func(n int) string {
		return fmt.Sprintf("containers: [{name: c, resources: {requests: {cpu: %dm}}}]", n)
	}
	anti := `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}`
	for name, test := range map[string]struct {
		spec string
		want []string
	}{
		"fits":              {cpu(1000), nil},
		"too large":         {cpu(2000), []string{"add a toleration for node.kubernetes.io/unschedulable:NoSchedule", "free 500m of cpu on node-1", "lower cpu request to 1500m", "uncordon node-3"}},
		"of two containers": {"containers: [{name: c, resources: {requests: {cpu: 1}}}, {name: d, resources: {requests: {cpu: 4}}}]", []string{"lower cpu request of container d to 500m"}},
		"node selector":     {"nodeSelector: {disk: ssd}", []string{"drop node selector disk=ssd", "label node-1 disk=ssd"}},
		"another node":      {"nodeSelector: {kubernetes.io/hostname: node-2}, " + cpu(400), []string{"add a toleration for x=z:NoSchedule", "drop node selector kubernetes.io/hostname=node-2", "label node-1 kubernetes.io/hostname=node-2", "remove taint x=z:NoSchedule from node-2"}},
		"two reasons":       {"nodeSelector: {kubernetes.io/hostname: node-3, disk: ssd}", []string{"drop node selector disk=ssd and drop node selector kubernetes.io/hostname=node-3", "label node-1 disk=ssd and label node-1 kubernetes.io/hostname=node-3"}},
		"gated":             {"schedulingGates: [{name: g}]", []string{"remove scheduling gate g"}},
		"anti-affinity":     {anti, []string{"add a toleration for node.kubernetes.io/unschedulable:NoSchedule", "drop the required pod anti-affinity", "uncordon node-3"}},
		"claim":             {"volumes: [{name: v, persistentVolumeClaim: {claimName: none}}]", []string{`settle its claim: persistentvolumeclaim "none" not found`}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := frameworktest.Pod(t, "{metadata: {name: p}, spec: {"+test.spec+"}}")
			table, err := c.Judge(pod)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, fix := range c.Fixes(pod, table) {
				got = append(got, fix.String())
			}
			slices.Sort(got)
			for _, want := range test.want {
				if !slices.Contains(got, want) {
					t.Errorf("missing %q in %q", want, got)
				}
			}
			if len(test.want) == 0 && len(got) > 0 {
				t.Errorf("fixes for what fits: %q", got)
			}
		})
	}
}

func TestJudgeTellsAllRejections(t *testing.T) {
	table, err := cluster(t).Judge(frameworktest.Pod(t, "{metadata: {name: p}, spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"node-1": {"NodeResourcesFit"}, "node-2": {"TaintToleration", "NodeResourcesFit"}, "node-3": {"NodeUnschedulable"}}
	for _, v := range table.Nodes {
		var got []string
		for _, r := range v.Rejections {
			got = append(got, r.Plugin)
		}
		if !slices.Equal(got, want[v.Node]) {
			t.Errorf("%s is rejected by %v, want %v", v.Node, got, want[v.Node])
		}
	}
	if table.Feasible() != 0 {
		t.Errorf("%d nodes are feasible", table.Feasible())
	}
}
