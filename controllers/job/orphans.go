package job

import (
	"context"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/controllers/runner"
	"github.com/kubesim/kubesim/trace"
)

// orphanPrefix marks keys that name pods. No Job has a slash in its name.
const orphanPrefix = "pod/"

func orphanKey(pod *corev1.Pod) runner.Key {
	return runner.Key{Namespace: pod.Namespace, Name: orphanPrefix + pod.Name}
}

func orphanName(key runner.Key) (pod string, isOrphan bool) {
	return strings.CutPrefix(key.Name, orphanPrefix)
}

func objectOf(key runner.Key) string {
	if pod, isOrphan := orphanName(key); isOrphan {
		return trace.ObjectName("pods", "", key.Namespace, pod)
	}
	return trace.ObjectName("jobs", batchv1.GroupName, key.Namespace, key.Name)
}

// jobOf is a pod's Job as far as it is in the cache and not finished.
func (c *Controller) jobOf(pod *corev1.Pod) *batchv1.Job {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil || ref.Kind != kind.Kind {
		return nil
	}
	job, err := c.lister.Jobs(pod.Namespace).Get(ref.Name)
	if err != nil || job.UID != ref.UID || finished(job) {
		return nil
	}
	return job
}

// releaseOrphan takes the finalizer off a pod whose Job is gone or finished:
// nobody will count it.
func (c *Controller) releaseOrphan(ctx context.Context, key runner.Key, name string) error {
	obj, found, err := c.cache.pods.GetByKey(cache.ObjectName{Namespace: key.Namespace, Name: name}.String())
	if err != nil || !found {
		return err
	}
	pod := obj.(*corev1.Pod)
	if !tracked(pod) || c.jobOf(pod) != nil {
		return nil
	}
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil && ref.Kind == kind.Kind {
		// The cache may not show the Job yet, or no longer.
		job, err := c.client.BatchV1().Jobs(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if err == nil && job.UID == ref.UID && (!finished(job) || managedElsewhere(job)) {
			return nil
		}
	}
	runner.Decide(ctx, "its Job is gone, take the finalizer off")
	_, err = c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, untrackPatch(pod), metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
