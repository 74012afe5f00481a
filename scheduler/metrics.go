package scheduler

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubesim/kubesim/scheduler/queue"
)

// metrics are kube-scheduler's most used ones, under its names.
type metrics struct {
	attempts  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	victims   prometheus.Counter
}

// Results of an attempt.
const (
	resultScheduled     = "scheduled"
	resultUnschedulable = "unschedulable"
	resultError         = "error"
)

func newMetrics(registerer prometheus.Registerer, q *queue.Queue) *metrics {
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "scheduler_schedule_attempts_total",
			Help: "Attempts to schedule pods, by result.",
		}, []string{"result"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "scheduler_scheduling_attempt_duration_seconds",
			Help:    "Time from taking a pod off the queue to the decision, by result.",
			Buckets: prometheus.ExponentialBuckets(0.00005, 2, 18),
		}, []string{"result"}),
		victims: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "scheduler_preemption_victims_total",
			Help: "Pods that were chosen to make room for others.",
		}),
	}
	if registerer != nil {
		registerer.MustRegister(m.attempts, m.durations, m.victims, pending{q})
	}
	return m
}

func (m *metrics) attempt(result string, took time.Duration) {
	m.attempts.WithLabelValues(result).Inc()
	m.durations.WithLabelValues(result).Observe(took.Seconds())
}

// pending collects the lengths of the queue's pools.
type pending struct{ queue *queue.Queue }

var pendingDesc = prometheus.NewDesc("scheduler_pending_pods",
	"Pods without a node, by where they wait.", []string{"queue"}, nil)

func (p pending) Describe(ch chan<- *prometheus.Desc) { ch <- pendingDesc }

func (p pending) Collect(ch chan<- prometheus.Metric) {
	for name, n := range p.queue.Counts() {
		ch <- prometheus.MustNewConstMetric(pendingDesc, prometheus.GaugeValue, float64(n), name)
	}
}
