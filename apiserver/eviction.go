package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/kinds"
)

// maxDisruptedPods bounds the evictions that a budget's controller has not seen yet.
const maxDisruptedPods = 2000

// evict deletes a pod if its disruption budget allows it.
func (s *Server) evict(ctx context.Context, q *request) error {
	obj, err := s.posted(ctx, q, policyv1.SchemeGroupVersion.WithKind("Eviction"))
	if err != nil {
		return err
	}
	eviction := obj.(*policyv1.Eviction)
	if err := q.checkURLName(eviction, "Eviction"); err != nil {
		return err
	}
	opts, err := evictionOptions(q, eviction)
	if err != nil {
		return err
	}
	if err := s.admission.Validate(ctx, q.attributes("CREATE", eviction, nil)); err != nil {
		return err
	}
	if err := s.cache.Sync(ctx); err != nil {
		return err
	}
	for range mutateTries {
		err = s.evictOnce(ctx, q, opts)
		if !apierrors.IsConflict(err) || opts.Preconditions != nil && opts.Preconditions.ResourceVersion != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	return s.writeObject(q, http.StatusCreated, statusCreated())
}

// evictionOptions are those of the deletion. A dry run may be asked for in the
// query, in the body, or alike in both.
func evictionOptions(q *request, eviction *policyv1.Eviction) (*metav1.DeleteOptions, error) {
	opts, asked := eviction.DeleteOptions, q.query["dryRun"]
	switch {
	case opts == nil:
		opts = &metav1.DeleteOptions{DryRun: asked}
	case len(opts.DryRun) == 0:
		opts.DryRun = asked
	case len(asked) > 0 && !slices.Equal(asked, opts.DryRun):
		return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", asked, opts.DryRun)
	}
	if len(opts.DryRun) > 0 {
		q.query["dryRun"] = opts.DryRun
	}
	return opts, nil
}

// evictOnce decides on the pod as it is now. A pod that may go only as long as
// it is not ready, or has not started, is deleted at the version looked at.
func (s *Server) evictOnce(ctx context.Context, q *request, opts *metav1.DeleteOptions) error {
	e, err := s.lookup(q)
	if err != nil {
		return err
	}
	found, err := s.codec.object(q.res, e)
	if err != nil {
		return err
	}
	pod, options, budget := found.(*corev1.Pod), opts, ""
	switch {
	case pod.Status.Phase == corev1.PodPending:
		options = atVersion(opts, pod)
	case !evictsFreely(pod):
		unready := false
		if budget, unready, err = s.spendBudget(ctx, q, pod); err != nil {
			return err
		}
		if unready {
			options = atVersion(opts, pod)
		}
	}
	err = s.deleteEvicted(ctx, q, options)
	if apierrors.IsConflict(err) && budget != "" && options != opts {
		return budgetPending(budget)
	}
	return err
}

// atVersion adds a precondition to the options, unless the client has set one.
func atVersion(opts *metav1.DeleteOptions, pod *corev1.Pod) *metav1.DeleteOptions {
	if opts.Preconditions != nil && opts.Preconditions.ResourceVersion != nil {
		return opts
	}
	opts = opts.DeepCopy()
	if opts.Preconditions == nil {
		opts.Preconditions = &metav1.Preconditions{}
	}
	opts.Preconditions.ResourceVersion = &pod.ResourceVersion
	return opts
}

// deleteEvicted tells in the pod's status why it goes, and deletes it.
func (s *Server) deleteEvicted(ctx context.Context, q *request, opts *metav1.DeleteOptions) error {
	if !q.dryRun() {
		marked, err := s.markEvicted(ctx, q, opts.Preconditions)
		if err != nil {
			return err
		}
		if opts.Preconditions != nil && opts.Preconditions.ResourceVersion != nil {
			version := formatRevision(marked.Revision)
			opts = opts.DeepCopy()
			opts.Preconditions.ResourceVersion = &version
		}
	}
	deletion := *q
	deletion.verb, deletion.sub = "delete", kinds.Subresource{}
	_, _, err := s.deleteObject(ctx, &deletion, opts)
	return err
}

func (s *Server) markEvicted(ctx context.Context, q *request, preconditions *metav1.Preconditions) (*cache.Entry, error) {
	marked := *q
	marked.verb, marked.sub = "update", kinds.Subresource{Name: "status"}
	return s.mutate(ctx, &marked, func(old runtime.Object) (runtime.Object, error) {
		pod := old.(*corev1.Pod)
		if err := checkDeletePreconditions(q, pod, preconditions); err != nil {
			return nil, err
		}
		setPodCondition(pod, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: s.now(),
			Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
		})
		return pod, nil
	})
}

// setPodCondition adds a condition or takes the place of the one of its type,
// which keeps its time as long as its status stays.
func setPodCondition(pod *corev1.Pod, condition corev1.PodCondition) {
	for i, c := range pod.Status.Conditions {
		if c.Type == condition.Type {
			if c.Status == condition.Status {
				condition.LastTransitionTime = c.LastTransitionTime
			}
			pod.Status.Conditions[i] = condition
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, condition)
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

// spendBudget takes one disruption from the budget over the pod, and tells the
// budget's name. An unready pod may go without touching the budget.
func (s *Server) spendBudget(ctx context.Context, q *request, pod *corev1.Pod) (budget string, unready bool, err error) {
	budgets, err := s.budgetsOf(ctx, pod)
	switch {
	case err != nil || len(budgets) == 0:
		return "", false, err
	case len(budgets) > 1:
		return "", false, statusError(http.StatusInternalServerError, "", nil,
			"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
	}
	budget = budgets[0].Name
	if !podReady(pod) && sparesUnready(budgets[0]) {
		return budget, true, nil
	}
	one, err := s.ownRequest(ctx, policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), pod.Namespace, budget)
	if err != nil {
		return budget, false, err
	}
	one.verb, one.sub, one.query = "update", kinds.Subresource{Name: "status"}, q.query
	_, err = s.mutate(ctx, one, func(old runtime.Object) (runtime.Object, error) {
		pdb := old.(*policyv1.PodDisruptionBudget)
		return pdb, s.disrupt(pdb, pod.Name)
	})
	return budget, false, err
}

// sparesUnready is true for a budget that does not guard unready pods: always, or
// while it has as many healthy ones as it wants.
func sparesUnready(pdb *policyv1.PodDisruptionBudget) bool {
	always := pdb.Spec.UnhealthyPodEvictionPolicy != nil && *pdb.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	return always || pdb.Status.CurrentHealthy >= pdb.Status.DesiredHealthy && pdb.Status.DesiredHealthy > 0
}

// disrupt notes the disruption in the budget's status, or refuses it.
func (s *Server) disrupt(pdb *policyv1.PodDisruptionBudget, pod string) error {
	forbidden := func(why string) error {
		return apierrors.NewForbidden(policyv1.Resource("poddisruptionbudget"), pdb.Name, errors.New(why))
	}
	status := &pdb.Status
	switch {
	case status.ObservedGeneration < pdb.Generation:
		return budgetPending(pdb.Name)
	case status.DisruptionsAllowed < 0:
		return forbidden("pdb disruptions allowed is negative")
	case len(status.DisruptedPods) > maxDisruptedPods:
		return forbidden("DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case status.DisruptionsAllowed == 0:
		return budgetExhausted(pdb)
	}
	status.DisruptionsAllowed--
	if status.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason,
			ObservedGeneration: status.ObservedGeneration, LastTransitionTime: s.now(),
		})
	}
	if status.DisruptedPods == nil {
		status.DisruptedPods = map[string]metav1.Time{}
	}
	status.DisruptedPods[pod] = s.now()
	return nil
}

// violates is the error of an eviction that a budget does not allow.
func violates(retryAfter int, cause string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfter)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: cause}}
	return err
}

// budgetPending is for a budget whose controller is behind, for a moment.
func budgetPending(name string) error {
	const retryAfter = 10 // seconds
	return violates(retryAfter, fmt.Sprintf("The disruption budget %s is still being processed by the server.", name))
}

// budgetExhausted is for a budget that allows no more; nobody knows for how long.
func budgetExhausted(pdb *policyv1.PodDisruptionBudget) error {
	cause := fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", pdb.Name)
	c := meta.FindStatusCondition(pdb.Status.Conditions, policyv1.DisruptionAllowedCondition)
	switch {
	case c != nil && c.Status == metav1.ConditionFalse && c.Reason == policyv1.SyncFailedReason && c.Message != "":
		cause += " because it failed sync: " + c.Message
	case pdb.Status.CurrentHealthy <= pdb.Status.DesiredHealthy:
		cause = fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", pdb.Name, pdb.Status.DesiredHealthy, pdb.Status.CurrentHealthy)
	}
	return violates(0, cause)
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
