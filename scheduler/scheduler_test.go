package scheduler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/scheduler"
	"github.com/kubesim/kubesim/scheduler/configuration"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/trace"
)

// world is an API server, with nodes that nobody plays, and a scheduler.
type world struct {
	*testing.T
	client kubernetes.Interface
	spans  *tracetest.SpanRecorder
}

// inWorld runs a test in virtual time. change may alter the scheduler's configuration.
func inWorld(t *testing.T, change func(*scheduler.Config), nodes []string, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		s, err := sandbox.Start(t.Context(), sandbox.Config{APIOnly: true, DisableAdmissionPlugins: []string{"ServiceAccount", "TaintNodesByCondition"}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		client, err := kubernetes.NewForConfig(s.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, client: client, spans: tracetest.NewSpanRecorder()}
		for _, manifest := range nodes {
			if _, err := client.CoreV1().Nodes().Create(t.Context(), frameworktest.Node(t, manifest), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		config := scheduler.Config{
			RESTConfig: s.RESTConfig(),
			Seed:       1,
			Logger:     slog.New(slog.DiscardHandler),
			Tracer:     sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(w.spans)),
		}
		if change != nil {
			change(&config)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- scheduler.Run(ctx, config) }()
		defer func() {
			stop()
			if err := <-ended; err != nil {
				t.Errorf("Run: %v", err)
			}
		}()
		test(w)
	})
}

func (w *world) create(manifest string) {
	w.Helper()
	pod := frameworktest.Pod(w, manifest)
	pod.UID = ""
	for i := range pod.Spec.Containers {
		pod.Spec.Containers[i].Image = "nginx"
	}
	if _, err := w.client.CoreV1().Pods(pod.Namespace).Create(w.Context(), pod, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

// remove deletes a pod at once, as its kubelet would.
func (w *world) remove(pod string) {
	w.Helper()
	now := int64(0)
	if err := w.client.CoreV1().Pods("default").Delete(w.Context(), pod, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		w.Fatal(err)
	}
}

// settle lets the scheduler do all that it can without waiting, and no more.
func (w *world) settle() {
	time.Sleep(time.Millisecond) // virtual
	synctest.Wait()
}

func (w *world) pod(name string) *v1.Pod {
	w.Helper()
	pod, err := w.client.CoreV1().Pods("default").Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return pod
}

func (w *world) expectNode(pod, want string) {
	w.Helper()
	w.settle()
	if got := w.pod(pod).Spec.NodeName; got != want {
		w.Errorf("%s is on %q, want %q", pod, got, want)
	}
}

// expectUnscheduled checks the PodScheduled condition.
func (w *world) expectUnscheduled(pod, reason, message string) {
	w.Helper()
	w.settle()
	for _, c := range w.pod(pod).Status.Conditions {
		if c.Type == v1.PodScheduled {
			if c.Status != v1.ConditionFalse || c.Reason != reason || c.Message != message {
				w.Errorf("%s: got  %s %s %q\nwant False %s %q", pod, c.Status, c.Reason, c.Message, reason, message)
			}
			return
		}
	}
	w.Errorf("%s has no condition PodScheduled", pod)
}

// events lists an object's events as "type reason action: note".
func (w *world) events(object string) []string {
	w.Helper()
	list, err := w.client.EventsV1().Events("default").List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	var lines []string
	for _, e := range list.Items {
		if e.Regarding.Name == object {
			lines = append(lines, fmt.Sprintf("%s %s %s: %s", e.Type, e.Reason, e.Action, e.Note))
		}
	}
	return lines
}

func requesting(name string, more string, cpu int) string {
	return fmt.Sprintf("{metadata: {name: %s}, spec: {%s containers: [{name: c, resources: {requests: {cpu: %d}}}]}}", name, more, cpu)
}

func TestPlacedPod(t *testing.T) {
	inWorld(t, nil, []string{"metadata: {name: node-1}", "metadata: {name: node-2}"}, func(w *world) {
		w.create(requesting("a", "nodeSelector: {kubernetes.io/hostname: node-2},", 1))
		node := w.node("node-2")
		w.settle()
		node.Labels = map[string]string{"kubernetes.io/hostname": "node-2"}
		w.updateNode(node)
		w.expectNode("a", "node-2")
		if got, want := w.events("a")[1:], []string{"Normal Scheduled Binding: Successfully assigned default/a to node-2"}; !slices.Equal(got, want) {
			w.Errorf("events are %q, want %q", got, want)
		}
		w.create("{metadata: {name: other}, spec: {schedulerName: by-hand}}")
		w.expectNode("other", "")
		if got := w.events("other"); len(got) != 0 {
			w.Errorf("another scheduler's pod got %q", got)
		}
	})
}

func (w *world) node(name string) *v1.Node {
	w.Helper()
	node, err := w.client.CoreV1().Nodes().Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return node
}

func (w *world) updateNode(node *v1.Node) {
	w.Helper()
	if _, err := w.client.CoreV1().Nodes().Update(w.Context(), node, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
}

func TestTrace(t *testing.T) {
	inWorld(t, nil, []string{"metadata: {name: node-1}", "{metadata: {name: node-2}, spec: {unschedulable: true}}"}, func(w *world) {
		w.create(requesting("a", "", 1))
		w.expectNode("a", "node-1")
		spans := w.spans.Ended()
		if len(spans) != 1 || spans[0].Name() != "schedule" {
			w.Fatalf("ended spans are %v, want one of an attempt", spans)
		}
		attributes := attribute.NewSet(spans[0].Attributes()...)
		object, _ := attributes.Value(trace.Object)
		decision, _ := attributes.Value(trace.Decision)
		woke, _ := attributes.Value(trace.Woke)
		if object.AsString() != "pods/default/a" || decision.AsString() != "node-1, the only feasible node found of 2" || woke.AsInt64() == 0 {
			w.Errorf("the span says %v", spans[0].Attributes())
		}
		table, _ := attributes.Value(trace.Nodes)
		var rows []scheduler.NodeVerdict
		if err := json.Unmarshal([]byte(table.AsString()), &rows); err != nil {
			w.Fatal(err)
		}
		if len(rows) != 2 || !rows[0].Chosen || rows[0].Node != "node-1" || rows[1].Rejected != "NodeUnschedulable" {
			w.Errorf("the table is %+v", rows)
		}
	})
}

func TestUnschedulablePodIsRetriedWhenSomethingHelps(t *testing.T) {
	inWorld(t, nil, nil, func(w *world) {
		w.create(requesting("a", "", 3))
		w.expectUnscheduled("a", "Unschedulable", "no nodes available to schedule pods")
		if _, err := w.client.CoreV1().Nodes().Create(w.Context(), frameworktest.Node(w, "{metadata: {name: small}, status: {allocatable: {cpu: 2}}}"), metav1.CreateOptions{}); err != nil {
			w.Fatal(err)
		}
		w.expectUnscheduled("a", "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
		attempts := len(w.spans.Ended())
		node := w.node("small")
		node.Labels = map[string]string{"a": "b"}
		w.updateNode(node)
		w.settle()
		if got := len(w.spans.Ended()); got != attempts {
			w.Errorf("a label led to %d more attempts", got-attempts)
		}
		if _, err := w.client.CoreV1().Nodes().Create(w.Context(), frameworktest.Node(w, "metadata: {name: large}"), metav1.CreateOptions{}); err != nil {
			w.Fatal(err)
		}
		w.expectNode("a", "large")
	})
}

// Scenario S38, its second half.
func TestPreemption(t *testing.T) {
	inWorld(t, nil, []string{"metadata: {name: node-1}", "{metadata: {name: node-2}, spec: {unschedulable: true}}"}, func(w *world) {
		never := v1.PreemptNever
		for _, class := range []*schedulingv1.PriorityClass{
			{ObjectMeta: metav1.ObjectMeta{Name: "low"}, Value: 1},
			{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000},
			{ObjectMeta: metav1.ObjectMeta{Name: "polite"}, Value: 1000, PreemptionPolicy: &never},
		} {
			if _, err := w.client.SchedulingV1().PriorityClasses().Create(w.Context(), class, metav1.CreateOptions{}); err != nil {
				w.Fatal(err)
			}
		}
		w.create(requesting("victim", "priorityClassName: low, terminationGracePeriodSeconds: 30,", 3))
		w.expectNode("victim", "node-1")
		w.create(requesting("polite", "priorityClassName: polite,", 3))
		w.expectUnscheduled("polite", "Unschedulable",
			"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: not eligible due to preemptionPolicy=Never.")
		w.remove("polite")

		w.create(requesting("preemptor", "priorityClassName: high,", 3))
		w.expectUnscheduled("preemptor", "Unschedulable",
			"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: found a potential placement for pod on node node-1, preempting 1 victims")
		if got := w.pod("preemptor").Status.NominatedNodeName; got != "node-1" {
			w.Errorf("nominated node is %q, want node-1", got)
		}
		victim := w.pod("victim")
		if victim.DeletionTimestamp == nil {
			w.Error("the victim is not being deleted")
		}
		i := slices.IndexFunc(victim.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.DisruptionTarget })
		if i < 0 || victim.Status.Conditions[i].Reason != "PreemptionByScheduler" ||
			victim.Status.Conditions[i].Message != "default-scheduler: preempting to accommodate a higher priority pod" {
			w.Errorf("the victim's conditions are %+v", victim.Status.Conditions)
		}
		preempted := fmt.Sprintf("Normal Preempted Preempting: Preempted by pod %s on node node-1", w.pod("preemptor").UID)
		if got := w.events("victim"); !slices.Contains(got, preempted) {
			w.Errorf("the victim's events are %q, want %q", got, preempted)
		}
		w.create(requesting("latecomer", "", 3)) // for whom the room is not
		w.remove("victim")
		w.expectNode("preemptor", "node-1")
		w.expectNode("latecomer", "")
	})
}

func TestVolumeIsBoundBeforeThePod(t *testing.T) {
	inWorld(t, nil, []string{"{metadata: {name: node-1, labels: {host: a}}}", "{metadata: {name: node-2, labels: {host: b}}}"}, func(w *world) {
		wait := storagev1.VolumeBindingWaitForFirstConsumer
		w.must(w.client.StorageV1().StorageClasses().Create(w.Context(), &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: "slow"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &wait,
		}, metav1.CreateOptions{}))
		volume := &v1.PersistentVolume{}
		w.decode(`{metadata: {name: v}, spec: {storageClassName: slow, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: d, volumeHandle: h},
			nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: host, operator: In, values: [b]}]}]}}}}`, volume)
		volume, err := w.client.CoreV1().PersistentVolumes().Create(w.Context(), volume, metav1.CreateOptions{})
		w.must(nil, err)
		volume.Status.Phase = v1.VolumeAvailable
		w.must(w.client.CoreV1().PersistentVolumes().UpdateStatus(w.Context(), volume, metav1.UpdateOptions{}))
		claim := &v1.PersistentVolumeClaim{}
		w.decode("{metadata: {name: c}, spec: {storageClassName: slow, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", claim)
		w.must(w.client.CoreV1().PersistentVolumeClaims("default").Create(w.Context(), claim, metav1.CreateOptions{}))

		w.create("{metadata: {name: a}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}}")
		w.expectNode("a", "") // the volume controller has yet to act
		if got := w.pod("a").Status.NominatedNodeName; got != "node-2" {
			w.Errorf("nominated node is %q, want node-2", got)
		}
		volume, err = w.client.CoreV1().PersistentVolumes().Get(w.Context(), "v", metav1.GetOptions{})
		w.must(nil, err)
		if volume.Spec.ClaimRef == nil || volume.Spec.ClaimRef.Name != "c" {
			w.Errorf("the volume is meant for %+v, want c", volume.Spec.ClaimRef)
		}
		claim, err = w.client.CoreV1().PersistentVolumeClaims("default").Get(w.Context(), "c", metav1.GetOptions{})
		w.must(nil, err)
		claim.Spec.VolumeName = "v"
		claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		w.must(w.client.CoreV1().PersistentVolumeClaims("default").Update(w.Context(), claim, metav1.UpdateOptions{}))
		time.Sleep(time.Second)
		w.expectNode("a", "node-2")
	})
}

func TestVolumeLimit(t *testing.T) {
	inWorld(t, nil, []string{"metadata: {name: node-1}"}, func(w *world) {
		limit := int32(1)
		csiNode := &storagev1.CSINode{
			ObjectMeta: metav1.ObjectMeta{Name: "node-1"},
			Spec:       storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "d", NodeID: "n", Allocatable: &storagev1.VolumeNodeResources{Count: &limit}}}},
		}
		csiNode, err := w.client.StorageV1().CSINodes().Create(w.Context(), csiNode, metav1.CreateOptions{})
		w.must(nil, err)
		for _, name := range []string{"a", "b"} {
			volume, claim := &v1.PersistentVolume{}, &v1.PersistentVolumeClaim{}
			w.decode(fmt.Sprintf("{metadata: {name: %s}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: d, volumeHandle: %s}}}", name, name), volume)
			w.decode(fmt.Sprintf(`{metadata: {name: %s, annotations: {pv.kubernetes.io/bind-completed: "yes"}}, spec: {volumeName: %s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`, name, name), claim)
			w.must(w.client.CoreV1().PersistentVolumes().Create(w.Context(), volume, metav1.CreateOptions{}))
			w.must(w.client.CoreV1().PersistentVolumeClaims("default").Create(w.Context(), claim, metav1.CreateOptions{}))
			w.create(fmt.Sprintf("{metadata: {name: %s}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: %s}}]}}", name, name))
			w.settle()
		}
		w.create("{metadata: {name: shares}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: a}}]}}")
		w.expectNode("a", "node-1")
		w.expectNode("shares", "node-1")
		w.expectUnscheduled("b", "Unschedulable", "0/1 nodes are available: 1 node(s) exceed max volume count. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.")
		limit = 2
		csiNode.Spec.Drivers[0].Allocatable.Count = &limit
		w.must(w.client.StorageV1().CSINodes().Update(w.Context(), csiNode, metav1.UpdateOptions{}))
		time.Sleep(2 * time.Second)
		w.expectNode("b", "node-1")
	})
}

// must fails the test on an error, which it takes together with the result.
func (w *world) must(_ any, err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) decode(manifest string, into any) {
	w.Helper()
	w.must(nil, yaml.Unmarshal([]byte(manifest), into))
}

// failing lets requests fail whose path ends like that, the first n times.
type failing struct {
	next   http.RoundTripper
	suffix string
	n      int
}

func (f *failing) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.n == 0 || !strings.HasSuffix(r.URL.Path, f.suffix) {
		return f.next.RoundTrip(r)
	}
	f.n--
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","code":403}`
	return &http.Response{StatusCode: http.StatusForbidden, Request: r, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewBufferString(body))}, nil
}

func TestFailedBindingIsTakenBack(t *testing.T) {
	refuse := func(config *scheduler.Config) {
		config.RESTConfig = rest.CopyConfig(config.RESTConfig)
		config.RESTConfig.Wrap(func(rt http.RoundTripper) http.RoundTripper { return &failing{rt, "/a/binding", 1} })
	}
	inWorld(t, refuse, []string{"metadata: {name: node-1}"}, func(w *world) {
		w.create(requesting("a", "", 3))
		w.expectUnscheduled("a", "SchedulerError", "binding rejected: no")
		w.create(requesting("b", "", 3)) // the room is free again
		w.expectNode("b", "node-1")
		w.remove("b")
		w.expectNode("a", "") // its time has not come
		time.Sleep(time.Second)
		w.expectNode("a", "node-1")
	})
}

func TestLeader(t *testing.T) {
	elect := func(config *scheduler.Config) { config.LeaderElect, config.Identity = true, "first" }
	inWorld(t, elect, []string{"metadata: {name: node-1}"}, func(w *world) {
		w.settle()
		lease, err := w.client.CoordinationV1().Leases("kube-system").Get(w.Context(), "kube-scheduler", metav1.GetOptions{})
		if err != nil {
			w.Fatal(err)
		}
		if got := *lease.Spec.HolderIdentity; got != "first" {
			w.Errorf("%q leads, want first", got)
		}
		w.create(requesting("a", "", 1))
		w.expectNode("a", "node-1")
	})
}

func TestProfiles(t *testing.T) {
	nodes := []string{"metadata: {name: a}", "metadata: {name: b}", "metadata: {name: c}"}
	configure := func(config *scheduler.Config) {
		c, err := configuration.Parse([]byte(`{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [
			{schedulerName: default-scheduler},
			{schedulerName: packer, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}],
				plugins: {score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit}]}, filter: {disabled: [{name: TaintToleration}]}}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		config.Configuration = c
	}
	inWorld(t, configure, nodes, func(w *world) {
		for i := range 3 {
			w.create(requesting(fmt.Sprintf("packed-%d", i), "schedulerName: packer,", 1))
			w.settle()
		}
		on := map[string]int{}
		for i := range 3 {
			on[w.pod(fmt.Sprintf("packed-%d", i)).Spec.NodeName]++
		}
		if len(on) != 1 {
			t.Errorf("packed pods are on %v, want one node", on)
		}
		w.create("{metadata: {name: spread}}")
		w.settle()
		if node := w.pod("spread").Spec.NodeName; node == "" || on[node] > 0 {
			t.Errorf("the pod of the default profile is on %q, want an empty node", node)
		}
	})
}

func TestDeletedPodDoesNotWaitForItsVolumes(t *testing.T) {
	inWorld(t, nil, []string{"metadata: {name: node-1}"}, func(w *world) {
		wait := storagev1.VolumeBindingWaitForFirstConsumer
		w.must(w.client.StorageV1().StorageClasses().Create(w.Context(), &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: "slow"}, Provisioner: "csi.example.com", VolumeBindingMode: &wait,
		}, metav1.CreateOptions{}))
		claim := &v1.PersistentVolumeClaim{}
		w.decode("{metadata: {name: c}, spec: {storageClassName: slow, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", claim)
		w.must(w.client.CoreV1().PersistentVolumeClaims("default").Create(w.Context(), claim, metav1.CreateOptions{}))
		w.create("{metadata: {name: a}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}}")
		w.settle()
		bindings := func() (n int) {
			for _, span := range w.spans.Ended() {
				if span.Name() == "schedule" {
					n++
				}
			}
			return n
		}
		before := bindings()
		w.remove("a")
		w.settle()
		if after := bindings(); after != before+1 {
			t.Errorf("%d attempts ended with the pod, want 1", after-before)
		}
	})
}
