package podautoscaler

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	autoscalinglisters "k8s.io/client-go/listers/autoscaling/v2"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/kubesim/kubesim/controllers/runner"
)

const (
	component = "horizontal-pod-autoscaler"
	// period is how often an autoscaler looks at its workload.
	period = 15 * time.Second
	// defaultTolerance is that of autoscalers without one of their own.
	defaultTolerance = 0.1
)

// Controller reconciles HorizontalPodAutoscalers.
type Controller struct {
	client  kubernetes.Interface
	scales  scale.ScalesGetter
	mapper  meta.ResettableRESTMapper
	metrics *metrics
	events  record.EventRecorder
	clock   clock.PassiveClock
	logger  *slog.Logger
	scalers autoscalinglisters.HorizontalPodAutoscalerLister
	pods    corelisters.PodLister

	mu        sync.Mutex
	histories map[runner.Key]*history
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	source, err := newMetrics(env.RESTConfig, env.Mapper, env.Client.Discovery())
	if err != nil {
		return runner.Controller{}, err
	}
	scalers := env.Informers.Autoscaling().V2().HorizontalPodAutoscalers()
	c := &Controller{
		client: env.Client, scales: env.Scales, mapper: env.Mapper, metrics: source, events: env.Events(component), clock: env.Clock, logger: env.Logger,
		scalers: scalers.Lister(), pods: env.Informers.Core().V1().Pods().Lister(), histories: map[runner.Key]*history{},
	}
	resource := autoscalingv2.Resource("horizontalpodautoscalers")
	return runner.Controller{
		Name: "horizontal-pod-autoscaler-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{{
			Resource: resource, Informer: scalers.Informer(), Keys: runner.Self,
			Changed: func(old, cur metav1.Object) bool { return old.GetGeneration() != cur.GetGeneration() },
		}},
	}, nil
}

// Reconcile looks at one autoscaler's workload when it is time to. What fails
// is told in the status and tried again after the period, not sooner.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	cached, err := c.scalers.HorizontalPodAutoscalers(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.mu.Lock()
		delete(c.histories, key)
		c.mu.Unlock()
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	now := c.clock.Now()
	h := c.history(key, now)
	if wait := h.next.Sub(now); wait > 0 {
		return wait, nil
	}
	h.next = now.Add(period)
	p := &pass{Controller: c, scaler: cached.DeepCopy(), history: h, now: now}
	if err := p.run(ctx); err != nil {
		runner.Decide(ctx, "failed: %v", err)
		c.logger.Debug("Failed to scale", "horizontalpodautoscaler", key.String(), "err", err)
	}
	return period, p.writeStatus(ctx, cached)
}

// history of an autoscaler; the first look comes after a period. Only the worker
// that has the key uses it.
func (c *Controller) history(key runner.Key, now time.Time) *history {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.histories[key] == nil {
		c.histories[key] = &history{next: now.Add(period)}
	}
	return c.histories[key]
}

// pass is one look at a workload.
type pass struct {
	*Controller
	scaler  *autoscalingv2.HorizontalPodAutoscaler // to be changed
	history *history
	now     time.Time
}

func (p *pass) run(ctx context.Context) error {
	target, resource, err := p.target(ctx)
	if err != nil {
		p.events.Event(p.scaler, corev1.EventTypeWarning, "FailedGetScale", err.Error())
		p.condition(autoscalingv2.AbleToScale, corev1.ConditionFalse, "FailedGetScale", "the HPA controller was unable to get the target's current scale: %v", err)
		return err
	}
	p.condition(autoscalingv2.AbleToScale, corev1.ConditionTrue, "SucceededGetScale", "the HPA controller was able to get the target's current scale")
	current := target.Spec.Replicas
	p.history.begin(current, p.now)
	w, err := p.decide(ctx, target)
	if err != nil {
		p.status(current, p.scaler.Status.DesiredReplicas, w.statuses)
		p.events.Event(p.scaler, corev1.EventTypeWarning, "FailedComputeMetricsReplicas", err.Error())
		return err
	}
	runner.Decide(ctx, "have %d, want %d %s", current, w.replicas, w.reason)
	if w.replicas == current {
		p.status(current, current, w.statuses)
		return nil
	}
	return p.rescale(ctx, target, resource, w)
}

// target is the scale of the workload, and its resource.
func (p *pass) target(ctx context.Context) (*autoscalingv1.Scale, schema.GroupResource, error) {
	ref := p.scaler.Spec.ScaleTargetRef
	group, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil, schema.GroupResource{}, fmt.Errorf("invalid API version in scale target reference: %w", err)
	}
	mapping, err := p.mapper.RESTMapping(group.WithKind(ref.Kind).GroupKind(), group.Version)
	if err != nil {
		p.mapper.Reset() // it may be a new one
		return nil, schema.GroupResource{}, fmt.Errorf("unable to determine resource for scale target reference: %w", err)
	}
	resource := mapping.Resource.GroupResource()
	found, err := p.scales.Scales(p.scaler.Namespace).Get(ctx, resource, ref.Name, metav1.GetOptions{})
	return found, resource, err
}

// wish is the size that a workload should have, and why.
type wish struct {
	replicas int32
	reason   string
	statuses []autoscalingv2.MetricStatus
}

func (p *pass) decide(ctx context.Context, target *autoscalingv1.Scale) (wish, error) {
	current, least, most := target.Spec.Replicas, ptr.Deref(p.scaler.Spec.MinReplicas, 1), p.scaler.Spec.MaxReplicas
	switch {
	case current == 0 && least != 0:
		p.condition(autoscalingv2.ScalingActive, corev1.ConditionFalse, "ScalingDisabled", "scaling is disabled since the replica count of the target is zero")
		return wish{replicas: 0}, nil
	case current > most:
		return wish{replicas: most, reason: "Current number of replicas above Spec.MaxReplicas"}, nil
	case current < least:
		return wish{replicas: least, reason: "Current number of replicas below Spec.MinReplicas"}, nil
	}
	best, statuses, err := p.propose(ctx, target)
	if err != nil {
		return wish{statuses: statuses}, err
	}
	w := wish{replicas: p.normalize(current, best.replicas, least, most), statuses: statuses}
	switch {
	case best.replicas > current:
		w.reason = best.metric + " above target"
	case best.replicas < current:
		w.reason = "All metrics below target"
	}
	return w, nil
}

// normalize holds a proposal against the past and the limits.
func (p *pass) normalize(current, proposed, least, most int32) int32 {
	behavior := p.scaler.Spec.Behavior
	stable := p.history.stabilize(current, proposed, behavior, p.now)
	switch {
	case stable == proposed:
		p.condition(autoscalingv2.AbleToScale, corev1.ConditionTrue, "ReadyForNewScale", "recommended size matches current size")
	case behavior != nil && proposed >= current:
		p.condition(autoscalingv2.AbleToScale, corev1.ConditionTrue, "ScaleUpStabilized", "recent recommendations were lower than current one, applying the lowest recent recommendation")
	default:
		p.condition(autoscalingv2.AbleToScale, corev1.ConditionTrue, "ScaleDownStabilized", "recent recommendations were higher than current one, applying the highest recent recommendation")
	}
	l := limit(current, stable, least, most)
	if behavior != nil {
		l = limitByPolicies(current, stable, least, most, behavior, p.history, p.now)
	}
	value := corev1.ConditionTrue
	if l.replicas == stable {
		value = corev1.ConditionFalse
	}
	p.condition(autoscalingv2.ScalingLimited, value, l.reason, "%s", l.message)
	return l.replicas
}

func (p *pass) rescale(ctx context.Context, target *autoscalingv1.Scale, resource schema.GroupResource, w wish) error {
	current := target.Spec.Replicas
	changed := target.DeepCopy()
	changed.Spec.Replicas = w.replicas
	if _, err := p.scales.Scales(p.scaler.Namespace).Update(ctx, resource, changed, metav1.UpdateOptions{}); err != nil {
		p.events.Eventf(p.scaler, corev1.EventTypeWarning, "FailedRescale", "New size: %d; reason: %s; error: %v", w.replicas, w.reason, err)
		p.condition(autoscalingv2.AbleToScale, corev1.ConditionFalse, "FailedUpdateScale", "the HPA controller was unable to update the target scale: %v", err)
		p.status(current, p.scaler.Status.DesiredReplicas, w.statuses)
		return err
	}
	p.condition(autoscalingv2.AbleToScale, corev1.ConditionTrue, "SucceededRescale", "the HPA controller was able to update the target scale to %d", w.replicas)
	if w.replicas == 0 {
		p.condition(autoscalingv2.ScaledToZero, corev1.ConditionTrue, "ScaledToZero", "the HPA controller scaled the workload to zero")
	} else {
		p.condition(autoscalingv2.ScaledToZero, corev1.ConditionFalse, "NotScaledToZero", "the HPA controller did not scale the workload to zero")
	}
	p.events.Eventf(p.scaler, corev1.EventTypeNormal, "SuccessfulRescale", "New size: %d; reason: %s", w.replicas, w.reason)
	p.logger.Info("Scaled", "horizontalpodautoscaler", p.scaler.Namespace+"/"+p.scaler.Name, "from", current, "to", w.replicas, "reason", w.reason)
	p.history.scaled(w.replicas-current, p.now)
	p.status(current, w.replicas, w.statuses)
	p.scaler.Status.LastScaleTime = ptr.To(metav1.NewTime(p.now).Rfc3339Copy())
	return nil
}

// status sets all of the status but conditions and time.
func (p *pass) status(current, desired int32, statuses []autoscalingv2.MetricStatus) {
	s := &p.scaler.Status
	s.CurrentReplicas, s.DesiredReplicas, s.CurrentMetrics = current, desired, statuses
	s.ObservedGeneration = ptr.To(p.scaler.Generation)
}

func (p *pass) condition(kind autoscalingv2.HorizontalPodAutoscalerConditionType, value corev1.ConditionStatus, reason, format string, args ...any) {
	conditions := &p.scaler.Status.Conditions
	i := slices.IndexFunc(*conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool { return c.Type == kind })
	if i < 0 {
		*conditions = append(*conditions, autoscalingv2.HorizontalPodAutoscalerCondition{Type: kind})
		i = len(*conditions) - 1
	}
	condition := &(*conditions)[i]
	if condition.Status != value {
		condition.LastTransitionTime = metav1.NewTime(p.now).Rfc3339Copy()
	}
	condition.Status, condition.Reason, condition.Message = value, reason, fmt.Sprintf(format, args...)
}

// writeStatus writes a status that differs.
func (p *pass) writeStatus(ctx context.Context, old *autoscalingv2.HorizontalPodAutoscaler) error {
	if equality.Semantic.DeepEqual(old.Status, p.scaler.Status) {
		return nil
	}
	_, err := p.client.AutoscalingV2().HorizontalPodAutoscalers(p.scaler.Namespace).UpdateStatus(ctx, p.scaler, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
