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
	preparers, err := s.profileFor(p.Info.Pod).Reserve(assumed, s.snapshot.Node(node))
	if err != nil {
		s.cache.Forget(p.UID())
		s.failed(ctx, span, p, err)
		return
	}
	s.queue.Done(p)
	if len(preparers) == 0 {
		s.workers.do(ctx, p.UID(), func(context.Context) { s.bindNow(ctx, span, p, assumed) })
		return
	}
	s.workers.slow(ctx, func(context.Context) {
		waiting, done := s.binding.add(ctx, p.UID())
		defer done()
		if _, ok := s.stillExists(assumed.Pod); !ok { // it went before its going would be noticed
			done()
		}
		if err := s.prepare(waiting, assumed, preparers); err != nil {
			s.unbind(ctx, span, p, err)
			return
		}
		s.bindNow(ctx, span, p, assumed)
	})
}

// prepare does what must be done before the binding, and may take minutes. The
// node is written to the pod's status meanwhile, for those who wonder.
func (s *scheduler) prepare(ctx context.Context, pod *framework.PodInfo, preparers []framework.BindPreparer) error {
	node := pod.Pod.Spec.NodeName
	if err := s.patchStatus(ctx, pod.Pod, map[string]any{"nominatedNodeName": node}); err != nil {
		s.Logger.Debug("Failed to nominate a node", "pod", key(pod.Pod), "err", err)
	}
	for _, plugin := range preparers {
		if err := plugin.PreBind(ctx, pod, node); err != nil {
			return fmt.Errorf("running PreBind plugin %q: %w", plugin.Name(), err)
		}
	}
	return nil
}

func (s *scheduler) bindNow(ctx context.Context, span oteltrace.Span, p *queue.Pod, assumed *framework.PodInfo) {
	node := assumed.Pod.Spec.NodeName
	if err := s.postBinding(ctx, assumed.Pod); err != nil {
		s.unbind(ctx, span, p, fmt.Errorf("binding rejected: %w", err))
		return
	}
	s.profileFor(assumed.Pod).Unreserve(assumed)
	span.End()
	s.Logger.Debug("Bound pod", "pod", key(assumed.Pod), "node", node)
	s.recordNow(ctx, assumed.Pod, occurrence{v1.EventTypeNormal, "Scheduled", "Binding",
		fmt.Sprintf("Successfully assigned %s to %s", key(assumed.Pod), node), nil})
}

func (s *scheduler) postBinding(ctx context.Context, pod *v1.Pod) error {
	if e := s.binder(pod); e != nil {
		return e.Bind(ctx, pod, pod.Spec.NodeName)
	}
	return s.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     v1.ObjectReference{Kind: "Node", Name: pod.Spec.NodeName},
	}, metav1.CreateOptions{})
}

// unbind takes back what bind counted. The room is free again, which others
// may have been waiting for.
func (s *scheduler) unbind(ctx context.Context, span oteltrace.Span, p *queue.Pod, err error) {
	s.profileFor(p.Info.Pod).Unreserve(p.Info)
	s.cache.Forget(p.UID())
	s.queue.Move(change(framework.AssignedPodDelete, "pods", p.Info.Pod, nil))
	s.failed(ctx, span, p, err)
}
