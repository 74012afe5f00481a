package statefulset

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

// act carries a plan out.
func (c *Controller) act(ctx context.Context, key runner.Key, s scene, p plan) error {
	runner.Decide(ctx, "%s", p.words())
	for _, phase := range p.phases {
		do := func(i int) error { return c.do(ctx, key, s.set, phase[i]) }
		if err := run(s.ordered(), len(phase), do); err != nil {
			return err
		}
	}
	return nil
}

// run does actions one after the other, or side by side.
func run(ordered bool, n int, do func(int) error) error {
	if !ordered {
		return children.SlowStart(n, do)
	}
	for i := range n {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// words say what a plan does.
func (p plan) words() string {
	var words []string
	for _, phase := range p.phases {
		for _, action := range phase {
			words = append(words, fmt.Sprintf("%s %s", action.verb, action.pod.Name))
		}
	}
	if p.waits != "" {
		words = append(words, p.waits)
	}
	if len(words) == 0 {
		return "nothing to do"
	}
	return strings.Join(words, ", ")
}

func (c *Controller) do(ctx context.Context, key runner.Key, set *appsv1.StatefulSet, a action) error {
	switch a.verb {
	case create:
		return c.create(ctx, key, set, a.pod)
	case remove:
		return c.remove(ctx, key, set, a.pod)
	case claim:
		return c.createClaims(ctx, key, set, a.pod)
	}
	return c.repair(ctx, key, set, a.pod)
}

// create makes a pod after its claims.
func (c *Controller) create(ctx context.Context, key runner.Key, set *appsv1.StatefulSet, pod *corev1.Pod) error {
	if err := c.createClaims(ctx, key, set, pod); err != nil {
		c.tell(set, "Create", pod, err)
		return err
	}
	created, err := c.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	switch {
	case err == nil:
		c.expecting.pods.Wrote(key, created.ResourceVersion)
		c.logger.Info("Created pod", "pod", pod.Namespace+"/"+pod.Name)
	case apierrors.IsAlreadyExists(err):
		return err // a pod of that name is in the way; this is tried again
	case children.NamespaceGone(err):
		return nil
	}
	c.tell(set, "Create", pod, err)
	return err
}

func (c *Controller) remove(ctx context.Context, key runner.Key, set *appsv1.StatefulSet, pod *corev1.Pod) error {
	err := c.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	switch {
	case err == nil:
		c.expecting.pods.Deleted(key, pod.UID)
		c.logger.Info("Deleted pod", "pod", pod.Namespace+"/"+pod.Name)
	case apierrors.IsNotFound(err):
		c.expecting.pods.Deleted(key, pod.UID)
		return nil
	}
	c.tell(set, "Delete", pod, err)
	return err
}

// repair gives a pod its identity and volumes, and its claims their owner.
func (c *Controller) repair(ctx context.Context, key runner.Key, set *appsv1.StatefulSet, pod *corev1.Pod) error {
	if err := c.hand(ctx, key, set, pod); err != nil {
		c.tell(set, "Update", pod, err)
		return err
	}
	if hasIdentity(pod) && hasVolumes(set, pod) {
		return nil
	}
	if err := c.createClaims(ctx, key, set, pod); err != nil {
		c.tell(set, "Update", pod, err)
		return err
	}
	repaired := pod.DeepCopy()
	setIdentity(set, repaired)
	if !hasVolumes(set, repaired) {
		setVolumes(set, repaired)
	}
	updated, err := c.client.CoreV1().Pods(pod.Namespace).Update(ctx, repaired, metav1.UpdateOptions{})
	if err == nil {
		c.expecting.pods.Wrote(key, updated.ResourceVersion)
	}
	if !apierrors.IsConflict(err) {
		c.tell(set, "Update", pod, err)
	}
	return err
}

// createClaims makes those claims of a pod that don't exist.
func (c *Controller) createClaims(ctx context.Context, key runner.Key, set *appsv1.StatefulSet, pod *corev1.Pod) error {
	for _, claim := range claimsOf(set, pod) {
		if c.claimByName(set.Namespace)(claim.Name) != nil {
			continue
		}
		claim.OwnerReferences, _ = retainedBy(set, pod, claim)
		created, err := c.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Create(ctx, claim, metav1.CreateOptions{})
		switch {
		case err == nil:
			c.expecting.claims.Wrote(key, created.ResourceVersion)
			c.events.Eventf(set, corev1.EventTypeNormal, "SuccessfulCreate", "Create Claim %s Pod %s in StatefulSet %s success", claim.Name, pod.Name, set.Name)
		case apierrors.IsAlreadyExists(err), children.NamespaceGone(err):
		default:
			c.events.Eventf(set, corev1.EventTypeWarning, "FailedCreate", "Create Claim %s for Pod %s in StatefulSet %s failed error: %s", claim.Name, pod.Name, set.Name, err)
			return fmt.Errorf("failed to create PVC %s: %w", claim.Name, err)
		}
	}
	return nil
}

// hand gives the claims of a pod the owner that the retention policy wants.
func (c *Controller) hand(ctx context.Context, key runner.Key, set *appsv1.StatefulSet, pod *corev1.Pod) error {
	for _, template := range set.Spec.VolumeClaimTemplates {
		claim := c.claimByName(set.Namespace)(claimName(template.Name, set.Name, ordinal(pod)))
		if claim == nil {
			continue
		}
		owners, wrong := retainedBy(set, pod, claim)
		if !wrong {
			continue
		}
		handed := claim.DeepCopy()
		handed.OwnerReferences = owners
		updated, err := c.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, handed, metav1.UpdateOptions{})
		if err != nil {
			return fmt.Errorf("could not update claim %s for delete policy ownerRefs: %w", claim.Name, err)
		}
		c.expecting.claims.Wrote(key, updated.ResourceVersion)
	}
	return nil
}

// tell records the event of an action.
func (c *Controller) tell(set *appsv1.StatefulSet, verb string, pod *corev1.Pod, err error) {
	if err != nil {
		c.events.Eventf(set, corev1.EventTypeWarning, "Failed"+verb, "%s Pod %s in StatefulSet %s failed error: %s", verb, pod.Name, set.Name, err)
		return
	}
	c.events.Eventf(set, corev1.EventTypeNormal, "Successful"+verb, "%s Pod %s in StatefulSet %s successful", verb, pod.Name, set.Name)
}

// writeStatus writes a status that differs.
func (c *Controller) writeStatus(ctx context.Context, key runner.Key, set *appsv1.StatefulSet, status appsv1.StatefulSetStatus) error {
	if equality.Semantic.DeepEqual(set.Status, status) {
		return nil
	}
	updated := *set // the cache's parts are shared, not changed
	updated.Status = status
	answer, err := c.client.AppsV1().StatefulSets(set.Namespace).UpdateStatus(ctx, &updated, metav1.UpdateOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil // it went meanwhile
	case err != nil:
		return err
	}
	c.expecting.sets.Wrote(key, answer.ResourceVersion)
	return nil
}
