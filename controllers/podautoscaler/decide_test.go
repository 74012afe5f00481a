package podautoscaler

import (
	"errors"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var now = time.Unix(100000, 0)

// podsOf makes pods named a, b and so on; r is ready, n not, p pending, d going.
func podsOf(states string) []*corev1.Pod {
	var pods []*corev1.Pod
	for i, state := range states {
		old := metav1.NewTime(now.Add(-time.Hour))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i))}, Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &old}}
		ready := corev1.ConditionTrue
		switch state {
		case 'n':
			ready = corev1.ConditionFalse
		case 'p':
			pod.Status.Phase = corev1.PodPending
		case 'd':
			pod.DeletionTimestamp = &old
		}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: old}}
		pods = append(pods, pod)
	}
	return pods
}

func TestPerPod(t *testing.T) {
	for name, test := range map[string]struct {
		states  string
		values  map[string]int64 // of a request of 1000 each
		current int32
		want    int32
		err     error
	}{
		"twice the target":                      {"rr", map[string]int64{"a": 1000, "b": 1000}, 2, 4, nil},
		"half the target":                       {"rrrr", map[string]int64{"a": 250, "b": 250, "c": 250, "d": 250}, 4, 2, nil},
		"within the tolerance":                  {"rr", map[string]int64{"a": 540, "b": 540}, 2, 2, nil},
		"missing counts nothing when growing":   {"rrr", map[string]int64{"a": 1000, "b": 1000}, 3, 4, nil},
		"missing counts full when shrinking":    {"rrr", map[string]int64{"a": 100, "b": 100}, 3, 3, nil},
		"not ready counts nothing when growing": {"rrn", map[string]int64{"a": 1000, "b": 1000, "c": 1000}, 3, 4, nil},
		"pending is left out when shrinking":    {"rrp", map[string]int64{"a": 200, "b": 200}, 3, 1, nil},
		"going is left out":                     {"rrd", map[string]int64{"a": 500, "b": 500, "c": 9000}, 2, 2, nil},
		"no samples":                            {"pp", nil, 2, 0, errNoSamples},
		"no pods":                               {"", map[string]int64{"a": 1}, 2, 0, errNoPods},
	} {
		t.Run(name, func(t *testing.T) {
			samples, requests := map[string]sample{}, map[string]int64{}
			for pod, value := range test.values {
				samples[pod] = sample{value: value, at: now, window: time.Minute}
			}
			pods := podsOf(test.states)
			for _, pod := range pods {
				requests[pod.Name] = 1000
			}
			g := group(pods, samples, corev1.ResourceCPU, now)
			got, _, _, err := perPod(test.current, pods, samples, g, toUtilization(50, requests), func(string) int64 { return 1000 }, tolerance{0.1, 0.1})
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("%d, %v; want %d, %v", got, err, test.want, test.err)
			}
		})
	}
}

func TestStarting(t *testing.T) {
	pod := podsOf("r")[0]
	young := metav1.NewTime(now.Add(-time.Minute))
	pod.Status.StartTime, pod.Status.Conditions[0].LastTransitionTime = &young, young
	if !starting(pod, sample{at: now.Add(-30 * time.Second), window: time.Minute}, now) {
		t.Error("the sample's window began before the pod was ready")
	}
	if starting(pod, sample{at: now, window: 30 * time.Second}, now) {
		t.Error("the sample's window began after the pod was ready")
	}
}

func TestSharedAndByRatio(t *testing.T) {
	even := tolerance{0.1, 0.1}
	if n, mean := shared(2, 9000, 3000, even); n != 3 || mean != 4500 {
		t.Errorf("9 among 3 each: %d replicas, mean %d", n, mean)
	}
	if n, _ := shared(3, 9200, 3000, even); n != 3 {
		t.Errorf("within the tolerance: %d", n)
	}
	if n, _ := shared(0, 9000, 3000, even); n != 3 {
		t.Errorf("from zero: %d", n)
	}
	if n, err := byRatio(2, 1.5, podsOf("rr"), even); n != 3 || err != nil {
		t.Errorf("ratio 1.5 of two: %d, %v", n, err)
	}
	if n, err := byRatio(0, 2.2, nil, even); n != 3 || err != nil {
		t.Errorf("from zero: %d, %v", n, err)
	}
}

func TestLimit(t *testing.T) {
	for _, test := range []struct {
		current, desired, want int32
		reason                 string
	}{
		{3, 5, 5, "DesiredWithinRange"}, {3, 1, 2, "TooFewReplicas"}, {3, 9, 6, "ScaleUpLimit"},
		{1, 9, 4, "ScaleUpLimit"}, {8, 20, 10, "TooManyReplicas"}, {5, 11, 10, "TooManyReplicas"},
	} {
		if got := limit(test.current, test.desired, 2, 10); got.replicas != test.want || got.reason != test.reason {
			t.Errorf("from %d to %d: %+v", test.current, test.desired, got)
		}
	}
}

func TestPolicies(t *testing.T) {
	rules := func(choose autoscalingv2.ScalingPolicySelect, policies ...autoscalingv2.HPAScalingPolicy) *autoscalingv2.HPAScalingRules {
		return &autoscalingv2.HPAScalingRules{SelectPolicy: &choose, Policies: policies}
	}
	pods := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 60}
	percent := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 50, PeriodSeconds: 60}
	behavior := &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules("Max", pods, percent), ScaleDown: rules("Min", pods, percent)}
	h := &history{}
	check := func(current, desired, want int32, reason string) {
		t.Helper()
		if got := limitByPolicies(current, desired, 1, 100, behavior, h, now); got.replicas != want || got.reason != reason {
			t.Errorf("from %d to %d: %+v, want %d", current, desired, got, want)
		}
	}
	check(4, 50, 8, "ScaleUpLimit")
	check(20, 50, 30, "ScaleUpLimit")
	check(20, 2, 16, "ScaleDownLimit")
	check(6, 2, 3, "ScaleDownLimit")
	check(2, 0, 1, "TooFewReplicas")
	check(90, 200, 100, "TooManyReplicas")
	h.scaled(10, now.Add(-30*time.Second)) // it came from 10, which allows 15
	check(20, 50, 20, "ScaleUpLimit")
	behavior.ScaleDown = rules("Disabled", pods)
	check(20, 2, 20, "ScaleDownLimit")
}

func TestStabilize(t *testing.T) {
	h := &history{}
	h.begin(5, now)
	if got := h.stabilize(5, 3, nil, now.Add(time.Minute)); got != 5 {
		t.Errorf("a minute after 5: %d", got)
	}
	if got := h.stabilize(5, 3, nil, now.Add(6*time.Minute)); got != 3 {
		t.Errorf("six minutes after 5: %d", got)
	}
	if got := h.stabilize(3, 8, nil, now.Add(7*time.Minute)); got != 8 {
		t.Errorf("growing: %d", got)
	}
	behavior := &autoscalingv2.HorizontalPodAutoscalerBehavior{
		ScaleUp:   &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To[int32](120)},
		ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To[int32](0)},
	}
	h = &history{}
	h.begin(4, now)
	if got := h.stabilize(4, 8, behavior, now.Add(time.Minute)); got != 4 {
		t.Errorf("a minute after 4, growing slowly: %d", got)
	}
	if got := h.stabilize(4, 2, behavior, now.Add(2*time.Minute)); got != 2 {
		t.Errorf("shrinking at once: %d", got)
	}
}
