package apiserver

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what /metrics tells of the server itself, under kube-apiserver's names.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	watches  prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) *metrics {
	labels := []string{"verb", "group", "version", "resource", "subresource"}
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total", Help: "Requests by verb, resource and answer.",
		}, append(labels, "code")),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_request_duration_seconds", Help: "Time from a request to its answer, watches left out.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 14),
		}, labels),
		watches: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "apiserver_longrunning_requests", Help: "Open watches.",
		}),
	}
	registry.MustRegister(m.requests, m.duration, m.watches)
	return m
}

func (m *metrics) observe(q *request, code int, took time.Duration) {
	values := []string{q.verb, q.res.Group, q.res.Version, q.res.Resource, q.sub.Name}
	m.requests.WithLabelValues(append(values, strconv.Itoa(code))...).Inc()
	if q.verb != "watch" {
		m.duration.WithLabelValues(values...).Observe(took.Seconds())
	}
}
