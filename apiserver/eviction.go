package apiserver

import (
	"context"
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// maxDisruptedPods bounds the evictions that a budget's controller has not seen yet.
const maxDisruptedPods = 2000

// evict deletes a pod if its disruption budget allows it.
func (s *Server) evict(ctx context.Context, q *request) error {
	obj, err := s.decodeBody(q, policyv1.SchemeGroupVersion.WithKind("Eviction"))
	if err != nil {
		return err
	}
	eviction := obj.(*policyv1.Eviction)
	if err := q.checkName(eviction); eviction.Name != "" && err != nil {
		return err
	}
	opts := eviction.DeleteOptions
	if opts == nil {
		opts = &metav1.DeleteOptions{}
	}
	if len(opts.DryRun) > 0 {
		q.query.Set("dryRun", opts.DryRun[0])
	}
	if err := s.cache.Sync(ctx); err != nil {
		return err
	}
	e, err := s.lookup(q)
	if err != nil {
		return err
	}
	found, err := s.codec.object(q.res, e)
	if err != nil {
		return err
	}
	pod := found.(*corev1.Pod)
	if !evictsFreely(pod) {
		if err := s.spendBudget(ctx, q, pod); err != nil {
			return err
		}
	}
	if err := s.markEvicted(ctx, q); err != nil {
		return err
	}
	deletion := *q
	deletion.verb, deletion.sub = "delete", kinds.Subresource{}
	if opts.Preconditions == nil {
		opts.Preconditions = &metav1.Preconditions{}
	}
	if opts.Preconditions.UID == nil {
		opts.Preconditions.UID = &pod.UID
	}
	if _, _, err := s.deleteObject(ctx, &deletion, opts); err != nil {
		return err
	}
	return s.writeObject(q, http.StatusCreated, statusCreated())
}

// markEvicted tells in the pod's status why it goes.
func (s *Server) markEvicted(ctx context.Context, q *request) error {
	marked := *q
	marked.verb, marked.sub = "update", kinds.Subresource{Name: "status"}
	_, err := s.mutate(ctx, &marked, func(old runtime.Object) (runtime.Object, error) {
		pod := old.(*corev1.Pod)
		condition := corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: s.now(),
			Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
		}
		for i, c := range pod.Status.Conditions {
			if c.Type == condition.Type {
				if c.Status != condition.Status {
					pod.Status.Conditions[i] = condition
				}
				return pod, nil
			}
		}
		pod.Status.Conditions = append(pod.Status.Conditions, condition)
		return pod, nil
	})
	return err
}

// evictsFreely is true for a pod whose going disrupts nothing.
func evictsFreely(pod *corev1.Pod) bool {
	phase := pod.Status.Phase
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed || phase == corev1.PodPending || pod.DeletionTimestamp != nil
}

func podReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// spendBudget takes one disruption from the budget over the pod.
func (s *Server) spendBudget(ctx context.Context, q *request, pod *corev1.Pod) error {
	budgets, err := s.budgetsOf(ctx, pod)
	switch {
	case err != nil || len(budgets) == 0:
		return err
	case len(budgets) > 1:
		return statusError(http.StatusInternalServerError, "", nil,
			"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
	}
	pdbs := s.table.get(policyv1.GroupName, "v1", "poddisruptionbudgets")
	one := &request{w: q.w, r: q.r, res: pdbs, sub: kinds.Subresource{Name: "status"}, verb: "update", query: q.query,
		namespace: pod.Namespace, name: budgets[0].Name, form: form{media: mediaJSON}}
	_, err = s.mutate(ctx, one, func(old runtime.Object) (runtime.Object, error) {
		pdb := old.(*policyv1.PodDisruptionBudget)
		return pdb, s.disrupt(pdb, pod)
	})
	if errors.Is(err, errEvictsUnready) {
		return nil
	}
	return err
}

// errEvictsUnready lets an unready pod go without touching the budget.
var errEvictsUnready = errors.New("pod is not ready, the budget is not touched")

// disrupt notes the disruption in the budget's status, or refuses it.
func (s *Server) disrupt(pdb *policyv1.PodDisruptionBudget, pod *corev1.Pod) error {
	if pdb.Status.ObservedGeneration < pdb.Generation {
		return tooManyDisruptions(pdb, "The disruption budget "+pdb.Name+" is still being processed by the server.")
	}
	if !podReady(pod) {
		always := pdb.Spec.UnhealthyPodEvictionPolicy != nil && *pdb.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
		if always || pdb.Status.CurrentHealthy >= pdb.Status.DesiredHealthy && pdb.Status.DesiredHealthy > 0 {
			return errEvictsUnready
		}
	}
	switch {
	case pdb.Status.DisruptionsAllowed < 0:
		return statusError(http.StatusForbidden, metav1.StatusReasonForbidden, nil, "pdb disruptions allowed is negative")
	case len(pdb.Status.DisruptedPods) > maxDisruptedPods:
		return statusError(http.StatusForbidden, metav1.StatusReasonForbidden, nil, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case pdb.Status.DisruptionsAllowed == 0:
		return budgetExhausted(pdb)
	}
	pdb.Status.DisruptionsAllowed--
	if pdb.Status.DisruptedPods == nil {
		pdb.Status.DisruptedPods = map[string]metav1.Time{}
	}
	pdb.Status.DisruptedPods[pod.Name] = s.now()
	return nil
}

func tooManyDisruptions(pdb *policyv1.PodDisruptionBudget, cause string) error {
	return statusError(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, &metav1.StatusDetails{
		RetryAfterSeconds: 10,
		Causes:            []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: cause}},
	}, "Cannot evict pod as it would violate the pod's disruption budget.")
}

func budgetExhausted(pdb *policyv1.PodDisruptionBudget) error {
	cause := "The disruption budget " + pdb.Name + " needs " + formatRevision(int64(pdb.Status.DesiredHealthy)) +
		" healthy pods and has " + formatRevision(int64(pdb.Status.CurrentHealthy)) + " currently"
	err := tooManyDisruptions(pdb, cause)
	return err
}

// budgetsOf are the disruption budgets that select a pod.
func (s *Server) budgetsOf(ctx context.Context, pod *corev1.Pod) ([]*policyv1.PodDisruptionBudget, error) {
	gvr := schema.GroupVersionResource{Group: policyv1.GroupName, Version: "v1", Resource: "poddisruptionbudgets"}
	all, err := cacheLister{s}.List(ctx, gvr, pod.Namespace)
	if err != nil {
		return nil, err
	}
	var out []*policyv1.PodDisruptionBudget
	for _, obj := range all {
		pdb := obj.(*policyv1.PodDisruptionBudget)
		selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			out = append(out, pdb)
		}
	}
	return out, nil
}
