package controllers_test

import (
	"log/slog"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/sandbox"
)

// BenchmarkDeployment rolls 1000 replicas out on 100 nodes and deletes them.
func BenchmarkDeployment(b *testing.B) {
	s, err := sandbox.Start(b.Context(), sandbox.Config{Nodes: 100, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := s.WaitReady(b.Context()); err != nil {
		b.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		b.Fatal(err)
	}
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
