package kubesimtest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubesim/kubesim/kubesimtest"
	"github.com/kubesim/kubesim/sandbox/fault"
)

const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`

// ready waits until all replicas of a Deployment are.
func ready(c *kubesimtest.Cluster, name string) {
	client := c.Client()
	c.Eventually(name+" is ready", func(ctx context.Context) (bool, error) {
		d, err := client.AppsV1().Deployments("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == *d.Spec.Replicas, err
	})
}

func TestDeploymentBecomesReady(t *testing.T) {
	c := kubesimtest.Start(t, kubesimtest.Options{Nodes: 1})
	c.Apply(web)
	ready(c, "web")
}

func TestNamespaceIsEmptied(t *testing.T) {
	c := kubesimtest.Start(t, kubesimtest.Options{})
	c.Apply(`{apiVersion: v1, kind: Namespace, metadata: {name: shop}}`)
	c.Apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}}`)
	client := c.Client()
	if err := client.CoreV1().Namespaces().Delete(t.Context(), "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Eventually("the namespace is gone", func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Namespaces().Get(ctx, "shop", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

// TestVirtualTime lets a Job's pods wait an hour, in no time.
func TestVirtualTime(t *testing.T) {
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		c := kubesimtest.Start(t, kubesimtest.Options{Nodes: 1})
		c.Apply(web)
		ready(c, "web")
		time.Sleep(time.Hour)
		ready(c, "web")
	})
	if real := time.Since(began); real > 30*time.Minute {
		t.Errorf("an hour took %v", real)
	}
}

func TestPartsCanBeLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := kubesimtest.Start(t, kubesimtest.Options{Nodes: 1, Controllers: []string{"*", "-replicaset-controller"}})
		c.Apply(web)
		time.Sleep(time.Minute)
		sets, err := c.Client().AppsV1().ReplicaSets("default").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(sets.Items) != 1 || sets.Items[0].Status.Replicas != 0 {
			t.Errorf("without its controller: %v, %v", sets, err)
		}
	})
}

// BenchmarkStart is the time from nothing to a cluster with a node that is ready, and back.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		kubesimtest.Start(b, kubesimtest.Options{Nodes: 1})
	}
}

func TestManySideBySide(t *testing.T) {
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c := kubesimtest.Start(t, kubesimtest.Options{NoControllers: true, NoScheduler: true})
			c.Apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}`)
			list, err := c.Client().CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) != 1 {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
}

// TestBreak sees that pods wait while the scheduler does nothing, and run after.
func TestBreak(t *testing.T) {
	c := kubesimtest.Start(t, kubesimtest.Options{Nodes: 1})
	heal := c.Break(fault.Fault{Kind: fault.Pause, Target: fault.Scheduler})
	c.Apply(`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: nginx}]}}`)
	phase := func(ctx context.Context) (corev1.PodPhase, string, error) {
		p, err := c.Client().CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{})
		return p.Status.Phase, p.Spec.NodeName, err
	}
	if now, node, err := phase(t.Context()); now != corev1.PodPending || node != "" || err != nil {
		t.Errorf("with a paused scheduler: %s on %q, %v", now, node, err)
	}
	heal()
	c.Eventually("p runs", func(ctx context.Context) (bool, error) {
		now, _, err := phase(ctx)
		return now == corev1.PodRunning, err
	})
}

func TestKubeconfig(t *testing.T) {
	c := kubesimtest.Start(t, kubesimtest.Options{Listen: true, NoControllers: true, NoScheduler: true})
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// mirror is an operator that keeps a copy of each ConfigMap labelled "mirror" and
// marks the original when it is done. It crashes well: whatever it finds it brings
// to the same end.
func mirror(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	maps := client.CoreV1().ConfigMaps("default")
	w, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: "mirror"})
	if err != nil {
		return err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		original, ok := event.Object.(*corev1.ConfigMap)
		if !ok || event.Type == watch.Deleted || original.Annotations["mirrored"] == "yes" {
			continue
		}
		copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: original.Name + "-copy"}, Data: original.Data}
		if _, err := maps.Create(ctx, copied, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		marked := original.DeepCopy()
		metav1.SetMetaDataAnnotation(&marked.ObjectMeta, "mirrored", "yes")
		if _, err := maps.Update(ctx, marked, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) {
			return err
		}
	}
	return ctx.Err()
}

func TestForEachCrashPoint(t *testing.T) {
	runs := 0
	kubesimtest.ForEachCrashPoint(t, kubesimtest.Options{NoControllers: true, NoScheduler: true}, mirror, func(t *testing.T, c *kubesimtest.Cluster) {
		runs++
		c.Apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {mirror: "1"}}, data: {k: v}}`)
		client := c.Client()
		c.Eventually("a is mirrored", func(ctx context.Context) (bool, error) {
			a, err := client.CoreV1().ConfigMaps("default").Get(ctx, "a", metav1.GetOptions{})
			return err == nil && a.Annotations["mirrored"] == "yes", err
		})
		if b, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "a-copy", metav1.GetOptions{}); err != nil || b.Data["k"] != "v" {
			t.Errorf("copy %v, %v", b, err)
		}
	})
	if runs != 3 { // it makes two writes
		t.Errorf("%d runs, want one for each of two writes and one without a crash", runs)
	}
}

// ExampleStart waits for a Deployment in a cluster of its own.
func ExampleStart() {
	test := func(t *testing.T) {
		cluster := kubesimtest.Start(t, kubesimtest.Options{Nodes: 1})
		cluster.ApplyFile("testdata/web.yaml")
		client := cluster.Client()
		cluster.Eventually("web is ready", func(ctx context.Context) (bool, error) {
			web, err := client.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
			return err == nil && available(web), err
		})
	}
	_ = test // go test runs it
}

func available(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas == *d.Spec.Replicas }
