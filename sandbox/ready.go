package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	go func() { done <- waitNodes(ctx, s.RESTConfig(), s.cfg.Nodes, s.cfg.NoControllers) }()
	select {
	case err := <-done:
		return err
	case err := <-s.failed:
		cancel(err)
		<-done
		return err
	}
}

// waitNodes watches until want nodes are Ready. Their taint goes with the node life
// cycle controller alone, so it stays for good without controllers.
func waitNodes(ctx context.Context, config *rest.Config, want int, tainted bool) error {
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
		if event.Type != watch.Deleted && nodeReady(node) && (tainted || !newTaint(node)) {
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

// newTaint tells whether the node has the taint that every new one gets, and that
// keeps pods away.
func newTaint(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeNotReady })
}

func nodeReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
		return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
	})
}
