package podautoscaler

import (
	"errors"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/controllers/children"
)

const (
	// cpuInitialization is how long after its start a pod's CPU is looked at with
	// care; initialReadiness how late its first readiness may come.
	cpuInitialization = 5 * time.Minute
	initialReadiness  = 30 * time.Second
)

var (
	errNoPods    = errors.New("no pods returned by selector while calculating replica count")
	errNoSamples = errors.New("did not receive metrics for targeted pods (pods might be unready)")
)

// tolerance is how far a ratio may be from 1 with nothing done.
type tolerance struct{ down, up float64 }

func (t tolerance) holds(ratio float64) bool { return ratio >= 1-t.down && ratio <= 1+t.up }

// groups are the pods by what their samples are worth.
type groups struct {
	ready            int
	unready, missing []string
}

// group sorts pods, and takes out of the samples those that do not count.
func group(pods []*corev1.Pod, samples map[string]sample, resource corev1.ResourceName, now time.Time) groups {
	var g groups
	for _, pod := range pods {
		s, found := samples[pod.Name]
		switch {
		case pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed:
			delete(samples, pod.Name)
		case pod.Status.Phase == corev1.PodPending:
			g.unready = append(g.unready, pod.Name)
			delete(samples, pod.Name)
		case !found:
			g.missing = append(g.missing, pod.Name)
		case resource == corev1.ResourceCPU && starting(pod, s, now):
			g.unready = append(g.unready, pod.Name)
			delete(samples, pod.Name)
		default:
			g.ready++
		}
	}
	return g
}

// starting tells whether a pod's CPU says nothing yet about its load.
func starting(pod *corev1.Pod, s sample, now time.Time) bool {
	var ready *corev1.PodCondition
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			ready = &pod.Status.Conditions[i]
		}
	}
	if ready == nil || pod.Status.StartTime == nil {
		return true
	}
	started, since := pod.Status.StartTime.Time, ready.LastTransitionTime.Time
	if started.Add(cpuInitialization).After(now) {
		return ready.Status == corev1.ConditionFalse || s.at.Before(since.Add(s.window))
	}
	return ready.Status == corev1.ConditionFalse && started.Add(initialReadiness).After(since)
}

// measure compares samples with what they should be: as a ratio, in percent of
// the requests (or 0), and as a mean.
type measure func(samples map[string]sample) (ratio float64, percent int32, mean int64, err error)

// toValue compares with a value per pod.
func toValue(target int64) measure {
	return func(samples map[string]sample) (float64, int32, int64, error) {
		mean := total(samples) / int64(len(samples))
		return float64(mean) / float64(target), 0, mean, nil
	}
}

// toUtilization compares with a share of the pods' requests.
func toUtilization(target int32, requests map[string]int64) measure {
	return func(samples map[string]sample) (float64, int32, int64, error) {
		used, requested, n := int64(0), int64(0), int64(0)
		for pod, s := range samples {
			if request, found := requests[pod]; found {
				used, requested, n = used+s.value, requested+request, n+1
			}
		}
		if requested == 0 {
			return 0, 0, 0, errors.New("no metrics returned matched known pods")
		}
		percent := int32(used * 100 / requested)
		return float64(percent) / float64(target), percent, used / n, nil
	}
}

func total(samples map[string]sample) int64 {
	sum := int64(0)
	for _, s := range samples {
		sum += s.value
	}
	return sum
}

// perPod is the number of replicas that brings the pods' metric to its target.
// Pods that tell nothing are taken to use nothing when that would mean more
// pods, and as much as they should (full) when it would mean fewer.
func perPod(current int32, pods []*corev1.Pod, samples map[string]sample, g groups, measured measure, full func(pod string) int64, t tolerance) (replicas, percent int32, mean int64, err error) {
	if len(pods) == 0 {
		return 0, 0, 0, errNoPods
	}
	if len(samples) == 0 {
		return 0, 0, 0, errNoSamples
	}
	ratio, percent, mean, err := measured(samples)
	if err != nil {
		return 0, 0, 0, err
	}
	withUnready := len(g.unready) > 0 && ratio > 1
	if !withUnready && len(g.missing) == 0 {
		if t.holds(ratio) {
			return current, percent, mean, nil
		}
		return int32(math.Ceil(ratio * float64(g.ready))), percent, mean, nil
	}
	for _, pod := range g.missing {
		switch {
		case ratio < 1:
			samples[pod] = sample{value: full(pod)}
		case ratio > 1:
			samples[pod] = sample{}
		}
	}
	if withUnready {
		for _, pod := range g.unready {
			samples[pod] = sample{}
		}
	}
	again, _, _, err := measured(samples)
	if err != nil {
		return 0, 0, 0, err
	}
	replicas = int32(math.Ceil(again * float64(len(samples))))
	turned := ratio < 1 && again > 1 || ratio > 1 && again < 1
	backwards := again < 1 && replicas > current || again > 1 && replicas < current
	if t.holds(again) || turned || backwards {
		return current, percent, mean, nil
	}
	return replicas, percent, mean, nil
}

// byRatio is the number of replicas for a metric of the whole workload.
func byRatio(current int32, ratio float64, pods []*corev1.Pod, t tolerance) (int32, error) {
	if current == 0 {
		return int32(math.Ceil(ratio)), nil
	}
	if t.holds(ratio) {
		return current, nil
	}
	if len(pods) == 0 {
		return 0, errNoPods
	}
	ready := 0
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodRunning && children.Ready(pod) {
			ready++
		}
	}
	return int32(math.Ceil(ratio * float64(ready))), nil
}

// shared is the number of replicas that a metric is divided among, and the mean
// that each has now.
func shared(current int32, value, target int64, t tolerance) (replicas int32, mean int64) {
	replicas = current
	if ratio := float64(value) / (float64(target) * float64(current)); current == 0 || !t.holds(ratio) {
		replicas = int32(math.Ceil(float64(value) / float64(target)))
	}
	if current == 0 {
		return replicas, 0
	}
	return replicas, int64(math.Ceil(float64(value) / float64(current)))
}

// requestsOf are the pods' requests, of one container if it is named.
func requestsOf(pods []*corev1.Pod, resource corev1.ResourceName, container string) (map[string]int64, error) {
	requests := map[string]int64{}
	for _, pod := range pods {
		if r := pod.Spec.Resources; r != nil && container == "" {
			if request, found := r.Requests[resource]; found {
				requests[pod.Name] = request.MilliValue()
				continue
			}
		}
		sum := int64(0)
		for _, c := range lasting(pod) {
			if container != "" && c.Name != container {
				continue
			}
			request, found := c.Resources.Requests[resource]
			if !found {
				return nil, fmt.Errorf("missing request for %s in container %s of Pod %s", resource, c.Name, pod.Name)
			}
			sum += request.MilliValue()
		}
		requests[pod.Name] = sum
	}
	return requests, nil
}

// lasting are the containers that run as long as the pod does.
func lasting(pod *corev1.Pod) []corev1.Container {
	containers := append([]corev1.Container(nil), pod.Spec.Containers...)
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			containers = append(containers, c)
		}
	}
	return containers
}
