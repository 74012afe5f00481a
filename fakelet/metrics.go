package fakelet

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// registerMetrics shows how many nodes are played and how much work waits.
func registerMetrics(f *fakelet) error {
	if f.cfg.Registerer == nil {
		return nil
	}
	gauges := []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kubesim_fakelet_nodes", Help: "Nodes that are played."},
			func() float64 { return float64(f.nodes.count()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kubesim_fakelet_pod_queue_depth", Help: "Pods that wait for a worker."},
			func() float64 { return float64(f.podWorker.queue.Len()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kubesim_fakelet_node_queue_depth", Help: "Nodes that wait for a worker."},
			func() float64 { return float64(f.nodeWorker.queue.Len()) }),
	}
	for _, g := range gauges {
		if err := f.cfg.Registerer.Register(g); err != nil {
			return fmt.Errorf("registering metrics: %w", err)
		}
	}
	return nil
}
