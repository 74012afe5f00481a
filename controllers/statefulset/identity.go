package statefulset

import (
	"regexp"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/controllers/children"
)

var kind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")

var podName = regexp.MustCompile(`^(.*)-([0-9]+)$`)

// parse splits a pod's name into that of its set and its ordinal, -1 for a name
// that no set gives.
func parse(pod string) (set string, ordinal int) {
	parts := podName.FindStringSubmatch(pod)
	if parts == nil {
		return "", -1
	}
	n, err := strconv.ParseInt(parts[2], 10, 32)
	if err != nil {
		return "", -1
	}
	return parts[1], int(n)
}

func ordinal(pod *corev1.Pod) int {
	_, n := parse(pod.Name)
	return n
}

// isMember tells whether a set gives a pod's name.
func isMember(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	parent, _ := parse(pod.Name)
	return parent == set.Name
}

// start is the first ordinal.
func start(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}

// inRange tells whether a set wants a pod's ordinal.
func inRange(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	n := ordinal(pod) - start(set)
	return n >= 0 && n < int(*set.Spec.Replicas)
}

func revisionOf(pod *corev1.Pod) string { return pod.Labels[appsv1.StatefulSetRevisionLabel] }

// newPod makes the pod with an ordinal, of a revision.
func newPod(set *appsv1.StatefulSet, r revision, n int) *corev1.Pod {
	pod := children.NewPod(r.template, children.Owner{Object: set, Kind: kind})
	pod.GenerateName, pod.Name = "", set.Name+"-"+strconv.Itoa(n)
	pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, set.Spec.ServiceName
	setIdentity(set, pod)
	pod.Labels[appsv1.StatefulSetRevisionLabel] = r.name
	setVolumes(set, pod)
	return pod
}

// setIdentity labels a pod with what is its own.
func setIdentity(set *appsv1.StatefulSet, pod *corev1.Pod) {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[appsv1.StatefulSetPodNameLabel] = pod.Name
	pod.Labels[appsv1.PodIndexLabel] = strconv.Itoa(ordinal(pod))
}

func hasIdentity(pod *corev1.Pod) bool {
	return pod.Labels[appsv1.StatefulSetPodNameLabel] == pod.Name
}

// running, ready: a pod that has ended is neither.
func ready(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && children.Ready(pod)
}

func terminating(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil }
