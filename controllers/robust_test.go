package controllers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/controllers"
	"github.com/kubesim/kubesim/fakelet"
	"github.com/kubesim/kubesim/scheduler"
)

// trial is what a controller goes through, again and again, with other faults.
type trial struct {
	name     string
	resource schema.GroupVersionResource
	object   string
	// patches follow, each when the one before has been settled.
	patches []string
	settle  time.Duration // 1 minute if 0
	// most is how many pods may be active at a time, least how many must be
	// ready once all were. A Deployment goes by what its status tells: pods that
	// a ReplicaSet is about to delete may be there beside their successors.
	most, least int
}

const podTemplate = `{metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "nginx:1.27"}]}}`

const newImage = `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"nginx:1.28"}]}}}}`

func apps(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
}

func batch(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: resource}
}

var trials = []trial{
	{
		name: "deployment", resource: apps("deployments"), most: 4, least: 3,
		object:  `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}}`,
		patches: []string{newImage},
	},
	{
		name: "replicaset", resource: apps("replicasets"), most: 3,
		object:  `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}}`,
		patches: []string{`{"spec":{"replicas":1}}`},
	},
	{
		name: "replicationcontroller", resource: schema.GroupVersionResource{Version: "v1", Resource: "replicationcontrollers"}, most: 3,
		object:  `{apiVersion: v1, kind: ReplicationController, metadata: {name: web}, spec: {replicas: 3, template: ` + podTemplate + `}}`,
		patches: []string{`{"spec":{"replicas":1}}`},
	},
	{
		name: "statefulset", resource: apps("statefulsets"), most: 2, least: 1,
		object: `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {serviceName: web, replicas: 2, selector: {matchLabels: {app: web}}, template: ` + podTemplate +
			`, persistentVolumeClaimRetentionPolicy: {whenScaled: Delete, whenDeleted: Retain}}}`,
		patches: []string{newImage, `{"spec":{"replicas":1}}`},
	},
	{
		name: "daemonset", resource: apps("daemonsets"), most: 3, least: 2,
		object:  `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}}`,
		patches: []string{newImage},
	},
	{
		name: "job", resource: batch("jobs"), most: 2,
		object: `{apiVersion: batch/v1, kind: Job, metadata: {name: sum}, spec: {parallelism: 2, completions: 3, template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox, command: [sh, -c, exit 0]}]}}}}`,
	},
	{
		name: "indexed job", resource: batch("jobs"), most: 3, settle: 5 * time.Minute,
		object: `{apiVersion: batch/v1, kind: Job, metadata: {name: sum}, spec: {parallelism: 3, completions: 3, completionMode: Indexed, backoffLimitPerIndex: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox, command: [sh, -c, 'exit $((JOB_COMPLETION_INDEX % 2))']}]}}}}`,
	},
	{
		name: "cronjob", resource: batch("cronjobs"), most: 1, settle: 150 * time.Second,
		object:  `{apiVersion: batch/v1, kind: CronJob, metadata: {name: tick}, spec: {schedule: "* * * * *", successfulJobsHistoryLimit: 1, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox, command: [sh, -c, exit 0]}]}}}}}}`,
		patches: []string{`{"spec":{"suspend":true}}`},
	},
}

// TestFaults has each controller crash after each of its writes, lets every
// write fail once, lets its caches lag behind and cuts its watches. What comes
// out is always the same, and what must hold does so at every event.
func TestFaults(t *testing.T) {
	for _, trial := range trials {
		t.Run(trial.name, func(t *testing.T) {
			inCluster(t, apiAlone, func(c *cluster) {
				stop := c.startRest()
				defer stop()
				w := newWitness(c, trial)
				defer w.stop()
				clean := &faults{}
				want := c.endure(trial, w, "clean", clean)
				if strings.Contains(want, `"Pending"`) || !strings.Contains(want, "pods ") {
					t.Fatalf("pods don't run:\n%s", want)
				}
				for k := 1; k <= clean.writes; k++ {
					if got := c.endure(trial, w, fmt.Sprintf("crash%d", k), &faults{crashAfter: k}); got != want {
						t.Errorf("crash after write %d of %d:\n%s\nwant\n%s", k, clean.writes, got, want)
					}
				}
				for name, f := range map[string]*faults{
					"refused": {refuse: true},
					"lagging": {lag: 300 * time.Millisecond},
					"cut":     {cut: 100 * time.Millisecond},
				} {
					if got := c.endure(trial, w, name, f); got != want {
						t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
					}
				}
			})
		})
	}
}

// startRest runs what is not under test: the scheduler, three nodes, and the
// controller that takes the taint of new nodes off.
func (c *cluster) startRest() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		cfg := controllers.Config{RESTConfig: c.RESTConfig(), Logger: slog.New(slog.DiscardHandler), Controllers: []string{"node-lifecycle-controller"}}
		if err := controllers.Run(ctx, cfg); err != nil {
			c.Errorf("controllers: %v", err)
		}
	})
	running.Go(func() {
		if err := scheduler.Run(ctx, scheduler.Config{RESTConfig: c.RESTConfig(), Logger: slog.New(slog.DiscardHandler)}); err != nil {
			c.Errorf("scheduler: %v", err)
		}
	})
	running.Go(func() {
		if err := fakelet.Run(ctx, fakelet.Config{RESTConfig: c.RESTConfig(), Logger: slog.New(slog.DiscardHandler), Nodes: 3}); err != nil {
			c.Errorf("fakelet: %v", err)
		}
	})
	c.settle(time.Minute)
	return func() {
		cancel()
		running.Wait()
	}
}

// workloads are the controllers under test. Others would write too.
var workloads = []string{
	"deployment-controller", "replicaset-controller", "replicationcontroller-controller", "statefulset-controller",
	"daemonset-controller", "job-controller", "cronjob-controller",
}

// endure runs a trial in a namespace of its own and returns how it ended.
func (c *cluster) endure(trial trial, w *witness, namespace string, f *faults) string {
	c.Helper()
	must(c.T)(c.client.CoreV1().Namespaces().Create(c.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}))
	client, err := dynamic.NewForConfig(c.RESTConfig())
	if err != nil {
		c.Fatal(err)
	}
	resource := client.Resource(trial.resource).Namespace(namespace)
	stop := c.startFaulty(f)
	// CronJobs begin on the minute, so that all trials see as many.
	time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(trial.object), &object.Object); err != nil {
		c.Fatal(err)
	}
	must(c.T)(resource.Create(c.Context(), object, metav1.CreateOptions{}))
	settle := max(trial.settle, time.Minute)
	c.settle(settle)
	w.arm(namespace)
	for _, patch := range trial.patches {
		must(c.T)(resource.Patch(c.Context(), object.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}))
		c.settle(settle)
		w.disarm(namespace)
	}
	stop()
	if len(f.idle) > 0 {
		c.Errorf("%s: writes that changed nothing: %v", namespace, f.idle)
	}
	result := c.describe(client, namespace)
	c.clear(client, namespace)
	return result
}

// startFaulty runs the controllers with faults, and after a crash without.
func (c *cluster) startFaulty(f *faults) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	crashing, crash := context.WithCancel(ctx)
	f.crash = crash
	var running sync.WaitGroup
	running.Go(func() {
		cfg := controllers.Config{RESTConfig: f.through(c.RESTConfig()), Logger: slog.New(slog.DiscardHandler), Controllers: workloads}
		for _, ctx := range []context.Context{crashing, ctx} {
			if ctx.Err() != nil {
				return
			}
			if err := controllers.Run(ctx, cfg); err != nil {
				c.Errorf("controllers: %v", err)
			}
			cfg.RESTConfig = c.RESTConfig()
		}
	})
	return func() {
		cancel()
		running.Wait()
		c.settle(time.Second) // for what still reads a watch
	}
}

var described = []schema.GroupVersionResource{
	apps("deployments"), apps("replicasets"), apps("statefulsets"), apps("daemonsets"), apps("controllerrevisions"), batch("jobs"), batch("cronjobs"),
	{Version: "v1", Resource: "replicationcontrollers"}, {Version: "v1", Resource: "pods"},
}

// volatile is what differs between trials that end alike.
var volatile = regexp.MustCompile(`"(lastTransitionTime|lastUpdateTime|lastProbeTime|startTime|completionTime|lastScheduleTime|lastSuccessfulTime|uid|resourceVersion|namespace|message)":"[^"]*"|-\d{8}\b`)

// describe lists what is in a namespace, without names and times by chance.
func (c *cluster) describe(client dynamic.Interface, namespace string) string {
	c.Helper()
	var lines []string
	for _, gvr := range described {
		list, err := client.Resource(gvr).Namespace(namespace).List(c.Context(), metav1.ListOptions{})
		if err != nil {
			c.Fatal(err)
		}
		for _, object := range list.Items {
			status, _, _ := unstructured.NestedMap(object.Object, "status")
			if gvr.Resource == "pods" {
				status = map[string]any{"phase": status["phase"]}
			}
			if observed, found := status["observedGeneration"]; found {
				status["observedGeneration"] = observed == object.GetGeneration()
			}
			labels := object.GetLabels()
			maps.DeleteFunc(labels, func(label, _ string) bool {
				return strings.HasPrefix(label, "topology.") || strings.HasSuffix(label, "controller-uid")
			})
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "containers")
			text, err := json.Marshal([]any{status, containers, object.GetFinalizers(), labels, len(object.GetOwnerReferences())})
			if err != nil {
				c.Fatal(err)
			}
			lines = append(lines, volatile.ReplaceAllString(mask(gvr.Resource+" "+object.GetName()+" "+string(text)), "~"))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// clear takes away what a trial left. There is no garbage collector here.
func (c *cluster) clear(client dynamic.Interface, namespace string) {
	c.Helper()
	now := int64(0)
	for _, gvr := range described {
		if err := client.Resource(gvr).Namespace(namespace).DeleteCollection(c.Context(), metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: new(metav1.DeletePropagationBackground)}, metav1.ListOptions{}); err != nil {
			c.Fatal(err)
		}
	}
}

// witness checks at every event what must hold at any time.
type witness struct {
	*cluster
	trial   trial
	watches []watch.Interface
	mu      sync.Mutex
	pods    map[string]map[types.UID]*corev1.Pod // by namespace
	seen    map[types.UID]int64                  // observed generations
	armed   map[string]bool                      // namespaces where enough pods must be ready
}

func newWitness(c *cluster, trial trial) *witness {
	w := &witness{cluster: c, trial: trial, pods: map[string]map[types.UID]*corev1.Pod{}, seen: map[types.UID]int64{}, armed: map[string]bool{}}
	client, err := dynamic.NewForConfig(c.RESTConfig())
	if err != nil {
		c.Fatal(err)
	}
	pods, err := c.client.CoreV1().Pods("").Watch(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	owners, err := client.Resource(trial.resource).Watch(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	w.watches = []watch.Interface{pods, owners}
	go func() {
		for event := range pods.ResultChan() {
			if pod, isPod := event.Object.(*corev1.Pod); isPod {
				w.sawPod(event.Type, pod)
			}
		}
	}()
	go func() {
		for event := range owners.ResultChan() {
			if owner, isObject := event.Object.(*unstructured.Unstructured); isObject {
				w.sawOwner(owner)
			}
		}
	}()
	return w
}

func (w *witness) stop() {
	for _, watch := range w.watches {
		watch.Stop()
	}
}

// arm says that enough pods are ready from now on; disarm ends that.
func (w *witness) arm(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed[namespace] = true
}

func (w *witness) disarm(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed[namespace] = false
}

func (w *witness) sawPod(event watch.EventType, pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	there := w.pods[pod.Namespace]
	if there == nil {
		there = map[types.UID]*corev1.Pod{}
		w.pods[pod.Namespace] = there
	}
	there[pod.UID] = pod
	if event == watch.Deleted {
		delete(there, pod.UID)
	}
	owners := 0
	for _, ref := range pod.OwnerReferences {
		if ref.Controller != nil && *ref.Controller {
			owners++
		}
	}
	if owners > 1 {
		w.Errorf("%s: pod %s has %d controllers", pod.Namespace, pod.Name, owners)
	}
	active, ready := 0, 0
	for _, pod := range there {
		if pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			active++
			if stateOf(watch.Modified, pod) != "is pending" {
				ready++
			}
		}
	}
	if active > w.trial.most && w.trial.name != "deployment" {
		w.Errorf("%s: %d pods are active, no more than %d may be", pod.Namespace, active, w.trial.most)
	}
	if w.armed[pod.Namespace] && ready < w.trial.least {
		w.Errorf("%s: %d pods are ready, at least %d must be", pod.Namespace, ready, w.trial.least)
	}
}

func (w *witness) sawOwner(owner *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	generation, _, _ := unstructured.NestedInt64(owner.Object, "status", "observedGeneration")
	if generation < w.seen[owner.GetUID()] {
		w.Errorf("%s: observedGeneration fell from %d to %d", owner.GetName(), w.seen[owner.GetUID()], generation)
	}
	w.seen[owner.GetUID()] = generation
	if replicas, _, _ := unstructured.NestedInt64(owner.Object, "status", "replicas"); replicas > int64(w.trial.most) {
		w.Errorf("%s: %s has %d replicas, no more than %d may be", owner.GetNamespace(), owner.GetName(), replicas, w.trial.most)
	}
}
