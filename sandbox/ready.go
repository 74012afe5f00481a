package sandbox

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// WaitReady returns when all nodes that the sandbox plays are Ready.
func (s *Sandbox) WaitReady(ctx context.Context) error {
	if s.cfg.APIOnly || s.cfg.Nodes == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- waitNodes(ctx, s.RESTConfig(), s.cfg.Nodes) }()
	select {
	case err := <-done:
		return err
	case err := <-s.failed:
		cancel(err)
		<-done
		return err
	}
}

// waitNodes watches until want nodes are Ready.
func waitNodes(ctx context.Context, config *rest.Config, want int) error {
	config.UserAgent = "kubesim"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	// Without a revision a watch begins with what is there.
	nodes, err := client.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("waiting for the nodes: %w", err)
	}
	defer nodes.Stop()
	ready := map[string]bool{}
	for event := range nodes.ResultChan() {
		node, ok := event.Object.(*corev1.Node)
		if !ok {
			continue
		}
		delete(ready, node.Name)
		if event.Type != watch.Deleted && nodeReady(node) {
			ready[node.Name] = true
		}
		if len(ready) >= want {
			return nil
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return errors.New("waiting for the nodes: the watch ended")
}

// nodeReady tells whether the scheduler would use the node: it is Ready, and has
// lost the taint that every new node gets.
func nodeReady(node *corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady {
			return false
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
