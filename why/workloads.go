package why

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// podsOf lists the pods that an object controls.
func (a *Asker) podsOf(ctx context.Context, owner metav1.Object, selector *metav1.LabelSelector) ([]v1.Pod, error) {
	list, err := a.Client.CoreV1().Pods(owner.GetNamespace()).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(selector)})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(p v1.Pod) bool { return !metav1.IsControlledBy(&p, owner) }), nil
}

// firstBlocked counts the pods that are not ready, with a sentence about the first.
func (a *Asker) firstBlocked(pods []v1.Pod) (n int, first string) {
	for i := range pods {
		sentence := ""
		switch {
		case pods[i].DeletionTimestamp != nil:
			sentence = "is on its way out"
		case !ready(&pods[i]):
			sentence = a.pod(&pods[i])
		default:
			continue
		}
		if n++; n == 1 {
			first = fmt.Sprintf("pod/%s %s", pods[i].Name, sentence)
		}
	}
	return n, first
}

func ready(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.PodReady && c.Status == v1.ConditionTrue
	})
}

func unseen(meta *metav1.ObjectMeta, observed int64, controller string) string {
	if observed >= meta.Generation {
		return ""
	}
	return fmt.Sprintf("waits for the %s, which has seen generation %d of %d", controller, observed, meta.Generation)
}

func (a *Asker) deployment(ctx context.Context, d *appsv1.Deployment) (string, error) {
	if sentence := unseen(&d.ObjectMeta, d.Status.ObservedGeneration, "deployment-controller"); sentence != "" {
		return sentence, nil
	}
	want := ptr.Deref(d.Spec.Replicas, 1)
	if d.Spec.Paused && d.Status.UpdatedReplicas < want {
		return "is paused: its new template is not rolled out until it is resumed", nil
	}
	if d.Status.UpdatedReplicas == want && d.Status.Replicas == want && d.Status.AvailableReplicas == want {
		return nothing, nil
	}
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == v1.ConditionTrue {
			return "can't create pods: " + text(c.Reason, c.Message), nil
		}
	}
	pods, err := a.podsOfDeployment(ctx, d)
	if err != nil {
		return "", err
	}
	late := ""
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Status == v1.ConditionFalse {
			late = " (" + c.Reason + ")"
		}
	}
	blocked, first := a.firstBlocked(pods)
	if blocked == 0 {
		return fmt.Sprintf("has %d of %d pods updated%s, and goes on", d.Status.UpdatedReplicas, want, late), nil
	}
	return fmt.Sprintf("has %d of %d pods updated and %d available%s: %s", d.Status.UpdatedReplicas, want, d.Status.AvailableReplicas, late, first), nil
}

// podsOfDeployment lists those of the newest ReplicaSet first.
func (a *Asker) podsOfDeployment(ctx context.Context, d *appsv1.Deployment) ([]v1.Pod, error) {
	sets, err := a.Client.AppsV1().ReplicaSets(d.Namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(d.Spec.Selector)})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(sets.Items, func(x, y appsv1.ReplicaSet) int { return y.CreationTimestamp.Compare(x.CreationTimestamp.Time) })
	var pods []v1.Pod
	for i := range sets.Items {
		if set := &sets.Items[i]; metav1.IsControlledBy(set, d) {
			more, err := a.podsOf(ctx, set, set.Spec.Selector)
			if err != nil {
				return nil, err
			}
			pods = append(pods, more...)
		}
	}
	return pods, nil
}

func (a *Asker) replicaSet(ctx context.Context, set *appsv1.ReplicaSet) (string, error) {
	if sentence := unseen(&set.ObjectMeta, set.Status.ObservedGeneration, "replicaset-controller"); sentence != "" {
		return sentence, nil
	}
	for _, c := range set.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == v1.ConditionTrue {
			return "can't create pods: " + text(c.Reason, c.Message), nil
		}
	}
	return a.byPods(ctx, set, set.Spec.Selector)
}

// byPods is for owners that are as they should be when their pods are.
func (a *Asker) byPods(ctx context.Context, owner metav1.Object, selector *metav1.LabelSelector) (string, error) {
	pods, err := a.podsOf(ctx, owner, selector)
	if err != nil {
		return "", err
	}
	blocked, first := a.firstBlocked(pods)
	if blocked == 0 {
		return nothing, nil
	}
	return fmt.Sprintf("has %d of %d pods not ready: %s", blocked, len(pods), first), nil
}

func (a *Asker) statefulSet(ctx context.Context, set *appsv1.StatefulSet) (string, error) {
	if sentence := unseen(&set.ObjectMeta, set.Status.ObservedGeneration, "statefulset-controller"); sentence != "" {
		return sentence, nil
	}
	outdated := set.Status.UpdateRevision != set.Status.CurrentRevision && set.Status.UpdatedReplicas < set.Status.Replicas
	if outdated && set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return fmt.Sprintf("has %d of %d pods updated: its strategy is OnDelete, so a pod is updated when you delete it", set.Status.UpdatedReplicas, set.Status.Replicas), nil
	}
	sentence, err := a.byPods(ctx, set, set.Spec.Selector)
	if err != nil || sentence != nothing {
		if err == nil && set.Spec.PodManagementPolicy == appsv1.OrderedReadyPodManagement {
			sentence += "; pods are made one after another, so the others wait for it"
		}
		return sentence, err
	}
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; outdated && rolling != nil && ptr.Deref(rolling.Partition, 0) > 0 {
		return fmt.Sprintf("has %d of %d pods updated: its partition keeps those below ordinal %d as they were", set.Status.UpdatedReplicas, set.Status.Replicas, *rolling.Partition), nil
	}
	return sentence, nil
}

func (a *Asker) daemonSet(ctx context.Context, set *appsv1.DaemonSet) (string, error) {
	if sentence := unseen(&set.ObjectMeta, set.Status.ObservedGeneration, "daemonset-controller"); sentence != "" {
		return sentence, nil
	}
	if set.Status.UpdatedNumberScheduled < set.Status.DesiredNumberScheduled && set.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return fmt.Sprintf("has %d of %d pods updated: its strategy is OnDelete, so a pod is updated when you delete it", set.Status.UpdatedNumberScheduled, set.Status.DesiredNumberScheduled), nil
	}
	if set.Status.DesiredNumberScheduled == 0 {
		return "runs nowhere: no node matches its pods' node selector, affinity and tolerations", nil
	}
	return a.byPods(ctx, set, set.Spec.Selector)
}

func (a *Asker) job(ctx context.Context, job *batchv1.Job) (string, error) {
	for _, c := range job.Status.Conditions {
		if c.Status != v1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			return "is complete: nothing blocks it", nil
		case batchv1.JobFailed, batchv1.JobFailureTarget:
			return "has failed: " + text(c.Reason, c.Message), nil
		case batchv1.JobSuspended:
			return "is suspended: its pods are made when spec.suspend is set to false", nil
		}
	}
	if job.Spec.Selector == nil {
		return nothing, nil
	}
	return a.byPods(ctx, job, job.Spec.Selector)
}
