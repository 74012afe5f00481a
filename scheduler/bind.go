package scheduler

import (
	"context"
	"fmt"

	oteltrace "go.opentelemetry.io/otel/trace"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/queue"
)

// bind counts the pod on the node and has it bound there.
func (s *scheduler) bind(ctx context.Context, span oteltrace.Span, p *queue.Pod, node string) {
	assumed := p.Info.OnNode(node)
	if err := s.cache.Assume(assumed); err != nil {
		s.failed(ctx, span, p, fmt.Errorf("assuming pod on node %s: %w", node, err))
		return
	}
	s.queue.Done(p)
	s.workers.do(ctx, p.UID(), func(context.Context) {
		if err := s.postBinding(ctx, assumed.Pod); err != nil {
			s.unbind(ctx, span, p, fmt.Errorf("binding rejected: %w", err))
			return
		}
		span.End()
		s.Logger.Debug("Bound pod", "pod", key(assumed.Pod), "node", node)
		s.recordNow(ctx, assumed.Pod, occurrence{v1.EventTypeNormal, "Scheduled", "Binding",
			fmt.Sprintf("Successfully assigned %s to %s", key(assumed.Pod), node), nil})
	})
}

func (s *scheduler) postBinding(ctx context.Context, pod *v1.Pod) error {
	return s.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     v1.ObjectReference{Kind: "Node", Name: pod.Spec.NodeName},
	}, metav1.CreateOptions{})
}

// unbind takes back what bind counted. The room is free again, which others
// may have been waiting for.
func (s *scheduler) unbind(ctx context.Context, span oteltrace.Span, p *queue.Pod, err error) {
	s.cache.Forget(p.UID())
	s.queue.Move(change(framework.AssignedPodDelete, "pods", p.Info.Pod, nil))
	s.failed(ctx, span, p, err)
}
