package controllers_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/sandbox"
)

// BenchmarkDeployment rolls 1000 replicas out on 100 nodes and deletes them.
func BenchmarkDeployment(b *testing.B) {
	client := benchmarkCluster(b)
	var ready, gone time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := client.AppsV1().Deployments("default").Create(b.Context(), web(1000), metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
		for available := int32(0); available < 1000; time.Sleep(10 * time.Millisecond) {
			d, err := client.AppsV1().Deployments("default").Get(b.Context(), "web", metav1.GetOptions{})
			if err != nil {
				b.Fatal(err)
			}
			available = d.Status.AvailableReplicas
		}
		ready += time.Since(began)
		began = time.Now()
		if err := client.AppsV1().Deployments("default").Delete(b.Context(), "web", metav1.DeleteOptions{}); err != nil {
			b.Fatal(err)
		}
		for left := 1; left > 0; time.Sleep(10 * time.Millisecond) {
			pods, err := client.CoreV1().Pods("default").List(b.Context(), metav1.ListOptions{Limit: 1})
			if err != nil {
				b.Fatal(err)
			}
			left = len(pods.Items)
		}
		gone += time.Since(began)
	}
	b.ReportMetric(ready.Seconds()/float64(b.N), "s-ready/op")
	b.ReportMetric(gone.Seconds()/float64(b.N), "s-gone/op")
}

// BenchmarkManyDeployments makes 600 Deployments of one replica Available on 100 nodes.
func BenchmarkManyDeployments(b *testing.B) {
	client := benchmarkCluster(b)
	available := time.Duration(0)
	for n := 0; b.Loop(); n++ {
		namespace := benchmarkNamespace(b, client, n)
		began := time.Now()
		inParallel(b, 600, func(i int) error {
			d := web(1)
			d.Name, d.Namespace = fmt.Sprintf("web-%d", i), namespace
			_, err := client.AppsV1().Deployments(namespace).Create(b.Context(), d, metav1.CreateOptions{})
			return err
		})
		until(b, func() (bool, error) {
			list, err := client.AppsV1().Deployments(namespace).List(b.Context(), metav1.ListOptions{})
			return err == nil && !slices.ContainsFunc(list.Items, func(d appsv1.Deployment) bool { return d.Status.AvailableReplicas < 1 }), err
		})
		available += time.Since(began)
	}
	b.ReportMetric(available.Seconds()/float64(b.N), "s-available/op")
}

// BenchmarkManyJobs runs 500 Jobs of one pod to their end.
func BenchmarkManyJobs(b *testing.B) {
	client := benchmarkCluster(b)
	complete := time.Duration(0)
	for n := 0; b.Loop(); n++ {
		namespace := benchmarkNamespace(b, client, n)
		began := time.Now()
		inParallel(b, 500, func(i int) error {
			job := &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("sum-%d", i)},
				Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "c", Image: "busybox", Command: []string{"sh", "-c", "exit 0"}}},
				}}},
			}
			_, err := client.BatchV1().Jobs(namespace).Create(b.Context(), job, metav1.CreateOptions{})
			return err
		})
		until(b, func() (bool, error) {
			list, err := client.BatchV1().Jobs(namespace).List(b.Context(), metav1.ListOptions{})
			return err == nil && !slices.ContainsFunc(list.Items, func(job batchv1.Job) bool { return job.Status.CompletionTime == nil }), err
		})
		complete += time.Since(began)
	}
	b.ReportMetric(complete.Seconds()/float64(b.N), "s-complete/op")
}

// benchmarkCluster has 100 nodes.
func benchmarkCluster(b *testing.B) kubernetes.Interface {
	s, err := sandbox.Start(b.Context(), sandbox.Config{Nodes: 100, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.WaitReady(b.Context()); err != nil {
		b.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		b.Fatal(err)
	}
	return client
}

func benchmarkNamespace(b *testing.B, client kubernetes.Interface, n int) string {
	name := fmt.Sprintf("bench-%d", n)
	if _, err := client.CoreV1().Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	until(b, func() (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(name).Get(b.Context(), "default", metav1.GetOptions{})
		return err == nil, nil
	})
	return name
}

// inParallel does n things, 16 at a time.
func inParallel(b *testing.B, n int, do func(i int) error) {
	var calls errgroup.Group
	calls.SetLimit(16)
	for i := range n {
		calls.Go(func() error { return do(i) })
	}
	if err := calls.Wait(); err != nil {
		b.Fatal(err)
	}
}

func until(b *testing.B, holds func() (bool, error)) {
	for {
		done, err := holds()
		if err != nil {
			b.Fatal(err)
		}
		if done {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
