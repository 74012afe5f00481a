package why_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/trace"
	"github.com/kubesim/kubesim/why"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// asker asks an API server that has one node of 4 cpu, and a pod that uses claim data.
func asker(t *testing.T) *why.Asker {
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
	a := &why.Asker{Now: now}
	if a.Client, err = kubernetes.NewForConfig(s.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	if a.Metadata, err = metadata.NewForConfig(s.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	node, pod := &v1.Node{}, &v1.Pod{}
	decode(t, "{metadata: {name: node-1}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}, conditions: [{type: Ready, status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status.}]}}", node)
	decode(t, "{metadata: {name: user}, spec: {nodeName: node-1, containers: [{name: c, image: i}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}", pod)
	if _, err := a.Client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return a
}

func decode(t *testing.T, manifest string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(manifest), into); err != nil {
		t.Fatalf("%s: %v", manifest, err)
	}
}

func TestSentence(t *testing.T) {
	a := asker(t)
	const gone = `deletionTimestamp: "2026-01-01T11:59:00Z"`
	for name, test := range map[string]struct{ object, want string }{
		"crash loop":        {"{kind: Pod, apiVersion: v1, spec: {nodeName: n1}, status: {phase: Running, containerStatuses: [{name: c, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff, message: back-off 40s}}, lastState: {terminated: {exitCode: 1, reason: Error}}}]}}", "is held up by container c: CrashLoopBackOff, back-off 40s; it ended with exit code 1 (Error) and restarted 4 times"},
		"probe":             {"{kind: Pod, apiVersion: v1, spec: {nodeName: n1}, status: {phase: Running, containerStatuses: [{name: c, state: {running: {}}}]}}", "is not ready, since the readiness probe of container c does not pass"},
		"unknown scheduler": {"{kind: Pod, apiVersion: v1, spec: {schedulerName: mine}, status: {phase: Pending}}", `has no node, and scheduler "mine" has not looked at it yet`},
		"node is lost":      {"{kind: Pod, apiVersion: v1, metadata: {" + gone + "}, spec: {nodeName: node-1}}", "should have ended 1m0s ago, which the kubelet of node-1 has not confirmed: node node-1 is not ready: NodeStatusUnknown, Kubelet stopped posting node status"},
		"grace period":      {`{kind: Pod, apiVersion: v1, metadata: {deletionTimestamp: "2026-01-01T12:00:20Z", deletionGracePeriodSeconds: 30}, spec: {nodeName: node-1}}`, "is stopping: its containers on node-1 have until 12:00:20 (grace period of 30 s)"},
		"finalizer":         {"{kind: ConfigMap, apiVersion: v1, metadata: {" + gone + ", finalizers: [a/b]}}", "has been going for 1m0s: it waits for who owns finalizer a/b to take it off"},
		"claim in use":      {"{kind: PersistentVolumeClaim, apiVersion: v1, metadata: {name: data, namespace: default, " + gone + ", finalizers: [kubernetes.io/pvc-protection]}}", "has been going for 1m0s: pod/user uses it"},
		"namespace":         {"{kind: Namespace, apiVersion: v1, metadata: {" + gone + "}, status: {conditions: [{type: NamespaceFinalizersRemaining, status: 'True', message: 'Some content: a/b in 1 resource instances'}]}}", "has been going for 1m0s: Some content: a/b in 1 resource instances"},
		"paused":            {"{kind: Deployment, apiVersion: apps/v1, spec: {paused: true, replicas: 2, selector: {}}, status: {replicas: 2}}", "is paused: its new template is not rolled out until it is resumed"},
		"quota":             {"{kind: ReplicaSet, apiVersion: apps/v1, spec: {selector: {}}, status: {conditions: [{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: exceeded quota}]}}", "can't create pods: FailedCreate, exceeded quota"},
		"not observed":      {"{kind: StatefulSet, apiVersion: apps/v1, metadata: {generation: 3}, spec: {selector: {}}, status: {observedGeneration: 2}}", "waits for the statefulset-controller, which has seen generation 2 of 3"},
		"suspended":         {"{kind: Job, apiVersion: batch/v1, status: {conditions: [{type: Suspended, status: 'True'}]}}", "is suspended: its pods are made when spec.suspend is set to false"},
		"custom resource":   {"{kind: Database, apiVersion: example.com/v1, status: {conditions: [{type: Ready, status: 'False', reason: NoDisk, message: no disk.}]}}", "is not Ready: NoDisk, no disk"},
		"all well":          {"{kind: ConfigMap, apiVersion: v1}", "is as it should be: nothing blocks it"},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &unstructured.Unstructured{}
			decode(t, test.object, &obj.Object)
			got, err := a.Sentence(t.Context(), obj)
			if err != nil || got != test.want {
				t.Errorf("got  %q, %v\nwant %q", got, err, test.want)
			}
		})
	}
}

func TestExplainPods(t *testing.T) {
	a := asker(t)
	a.Spans = []trace.Span{{
		Name: "schedule", Object: "pods/default/placed", UID: "u", Decision: "node-1 of 2 feasible, score 6, drawn from the 2 best",
		Nodes: []byte(`[{"node": "node-1", "chosen": true, "score": 6, "scores": [{"plugin": "ImageLocality", "raw": 2, "normalized": 3, "weight": 2}]}, {"node": "node-2", "rejected": "NodePorts", "reasons": ["no port"]}]`),
	}}
	for name, test := range map[string]struct {
		pod  string
		want []string
	}{
		"placed":  {"{metadata: {name: placed, uid: u}, spec: {nodeName: node-1}}", []string{"drawn from the 2 best", "NODE    VERDICT             SCORE  ImageLocality", "node-1  chosen              6      2→3×2", "node-2  NodePorts: no port"}},
		"waiting": {"{metadata: {name: waiting, uid: v}, spec: {containers: [{name: c, resources: {requests: {cpu: 5}}}]}}", []string{"0 of 1 nodes would take it now", "node-1  Insufficient cpu", "lower cpu request to 4"}},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &unstructured.Unstructured{}
			decode(t, strings.Replace(test.pod, "{", "{kind: Pod, apiVersion: v1, ", 1), &obj.Object)
			var out strings.Builder
			if err := a.Explain(t.Context(), &out, obj, "pod/"+obj.GetName(), "pods/default/"+obj.GetName()); err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing in\n%s", want, out.String())
				}
			}
		})
	}
}
