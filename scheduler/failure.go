package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/queue"
	"github.com/kubesim/kubesim/trace"
)

// rejected puts a pod that fits nowhere back into the queue and says so.
func (s *scheduler) rejected(ctx context.Context, span oteltrace.Span, p *queue.Pod, diagnosis *framework.Diagnosis) {
	message := diagnosis.Message()
	span.SetAttributes(trace.Decision.String(message))
	pod := p.Info.Pod
	s.queue.Reject(p, diagnosis.Plugins)
	s.sayUnscheduled(ctx, span, pod, v1.PodReasonUnschedulable, message)
}

// failed puts a pod whose attempt ended in an error back into the queue and says so.
func (s *scheduler) failed(ctx context.Context, span oteltrace.Span, p *queue.Pod, err error) {
	if errors.Is(err, errNoNodes) {
		span.SetAttributes(trace.Decision.String(err.Error()))
		pod := p.Info.Pod
		s.queue.Reject(p, nil)
		s.sayUnscheduled(ctx, span, pod, v1.PodReasonUnschedulable, err.Error())
		return
	}
	span.SetStatus(codes.Error, err.Error())
	pod, ok := s.stillWaits(p)
	if !ok || ctx.Err() != nil {
		s.queue.Done(p)
		span.End()
		return
	}
	// The pod may have changed while it was being bound, unseen by the queue.
	if info, err := framework.NewPendingPodInfo(pod); err == nil {
		p.Info = info
	}
	s.Logger.Warn("Failed to schedule pod", "pod", key(pod), "err", err)
	s.queue.Retry(p)
	s.sayUnscheduled(ctx, span, pod, v1.PodReasonSchedulerError, err.Error())
}

// sayUnscheduled writes the FailedScheduling event and the PodScheduled
// condition, and ends the span.
func (s *scheduler) sayUnscheduled(ctx context.Context, span oteltrace.Span, pod *v1.Pod, reason, message string) {
	node := s.nominated.nodeFor(pod.UID)
	s.workers.do(ctx, pod.UID, func(context.Context) {
		defer span.End()
		s.recordNow(ctx, pod, occurrence{v1.EventTypeWarning, "FailedScheduling", "Scheduling", message, nil})
		if err := s.patchUnscheduled(ctx, pod, reason, message, node); err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
			s.Logger.Warn("Failed to update the status of a pod", "pod", key(pod), "err", err)
		}
	})
}

func (s *scheduler) patchUnscheduled(ctx context.Context, pod *v1.Pod, reason, message, node string) error {
	if current, err := s.pods.Pods(pod.Namespace).Get(pod.Name); err == nil && current.UID == pod.UID {
		pod = current
	}
	status := statusPatch(pod, v1.PodCondition{
		Type:               v1.PodScheduled,
		ObservedGeneration: pod.Generation,
		Status:             v1.ConditionFalse,
		LastTransitionTime: metav1.NewTime(s.Clock.Now()),
		Reason:             reason,
		Message:            message,
	})
	if node != pod.Status.NominatedNodeName {
		status["nominatedNodeName"] = node
	}
	return s.patchStatus(ctx, pod, status)
}

// statusPatch returns the part of a pod's status that sets the condition;
// nothing if it is set already.
func statusPatch(pod *v1.Pod, want v1.PodCondition) map[string]any {
	i := slices.IndexFunc(pod.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == want.Type })
	if i >= 0 {
		have := pod.Status.Conditions[i]
		if have.Status == want.Status {
			want.LastTransitionTime = have.LastTransitionTime
		}
		want.LastProbeTime = have.LastProbeTime
		if have == want {
			return map[string]any{}
		}
	}
	return map[string]any{"conditions": []v1.PodCondition{want}}
}

// patchStatus writes the fields of a pod's status. The uid makes sure that it
// is not another pod of the same name by now.
func (s *scheduler) patchStatus(ctx context.Context, pod *v1.Pod, status map[string]any) error {
	if len(status) == 0 {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   status,
	})
	if err != nil {
		return fmt.Errorf("encoding the status of a pod: %w", err)
	}
	_, err = s.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{}, "status")
	return err
}

// report has an event written by a worker.
func (s *scheduler) report(ctx context.Context, pod *v1.Pod, o occurrence) {
	s.workers.do(ctx, pod.UID, func(context.Context) { s.recordNow(ctx, pod, o) })
}

// recordNow writes an event. Losing one is no reason to fail.
func (s *scheduler) recordNow(ctx context.Context, pod *v1.Pod, o occurrence) {
	if err := s.events.record(ctx, pod, o); err != nil && ctx.Err() == nil {
		s.Logger.Debug("Lost an event", "pod", key(pod), "reason", o.reason, "err", err)
	}
}
