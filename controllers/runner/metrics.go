package runner

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Metrics counts what controllers do. The nil Metrics counts nothing.
type Metrics struct {
	registerer prometheus.Registerer
	reconciles *prometheus.CounterVec
	duration   *prometheus.HistogramVec
}

// NewMetrics registers the metrics of one process; nil without a registerer.
func NewMetrics(registerer prometheus.Registerer) (*Metrics, error) {
	if registerer == nil {
		return nil, nil
	}
	m := &Metrics{
		registerer: registerer,
		reconciles: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "controller_reconciles_total",
			Help: "Reconciles by controller and result: success, conflict or error.",
		}, []string{"controller", "result"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "controller_reconcile_duration_seconds",
			Help:    "How long reconciles took.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
		}, []string{"controller"}),
	}
	for _, collector := range []prometheus.Collector{m.reconciles, m.duration} {
		if err := registerer.Register(collector); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Metrics) observe(controller string, took time.Duration, err error) {
	if m == nil {
		return
	}
	result := "success"
	switch {
	case apierrors.IsConflict(err):
		result = "conflict"
	case err != nil:
		result = "error"
	}
	m.reconciles.WithLabelValues(controller, result).Inc()
	m.duration.WithLabelValues(controller).Observe(took.Seconds())
}

// depth publishes the length of a controller's queue, read when asked for.
func (m *Metrics) depth(controller string, length func() int) {
	if m == nil {
		return
	}
	gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "workqueue_depth",
		Help:        "How many keys wait to be reconciled.",
		ConstLabels: prometheus.Labels{"name": controller},
	}, func() float64 { return float64(length()) })
	// A second manager in this process shares the registry: the first gauge stays.
	_ = m.registerer.Register(gauge)
}
