package job

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/controllers/runner"
)

const (
	firstDelay = 10 * time.Second
	maxDelay   = 10 * time.Minute
)

// delays is how many pods of a Job failed since the last one that succeeded, and when.
type delays struct {
	failures int
	last     time.Time
}

// after counts pods that have ended.
func (d delays) after(succeeded, failed []*corev1.Pod) delays {
	var lastSuccess time.Time
	for _, pod := range succeeded {
		lastSuccess = later(lastSuccess, endOf(pod))
	}
	if len(succeeded) > 0 {
		d = delays{}
	}
	for _, pod := range failed {
		if end := endOf(pod); len(succeeded) == 0 || end.After(lastSuccess) {
			d.failures++
			d.last = later(d.last, end)
		}
	}
	return d
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// left is how long the next pod still has to wait: 10 s after the first
// failure, twice as long after each further one.
func (d delays) left(now time.Time) time.Duration {
	if d.failures == 0 {
		return 0
	}
	delay := maxDelay
	if doublings := d.failures - 1; doublings < 10 {
		delay = min(firstDelay<<doublings, maxDelay)
	}
	return max(0, d.last.Add(delay).Sub(now))
}

// endOf is when a pod ended, as well as can be told.
func endOf(pod *corev1.Pod) time.Time {
	var end time.Time
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			if ended := statuses[i].State.Terminated; ended != nil {
				end = later(end, ended.FinishedAt.Time)
			}
		}
	}
	if !end.IsZero() {
		return end
	}
	ready := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse && !c.LastTransitionTime.IsZero()
	})
	switch {
	case ready >= 0:
		return pod.Status.Conditions[ready].LastTransitionTime.Time
	case pod.DeletionTimestamp != nil:
		grace := time.Duration(0)
		if pod.DeletionGracePeriodSeconds != nil {
			grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
		}
		return pod.DeletionTimestamp.Add(-grace)
	}
	return pod.CreationTimestamp.Time
}

// memory has the delays of all Jobs. A restart forgets them, and the next pod
// comes at once.
type memory struct {
	mu    sync.Mutex
	byKey map[runner.Key]delays
}

func (m *memory) get(key runner.Key) delays {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byKey[key]
}

func (m *memory) set(key runner.Key, d delays) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d.failures == 0 {
		delete(m.byKey, key)
		return
	}
	m.byKey[key] = d
}
