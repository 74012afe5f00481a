package bench

import (
	"context"
	"fmt"
	"strings"
)

// RunSelf measures kubesim itself, each part on a fresh server in a process of
// its own: single requests on the API server alone, what needs controllers on
// a whole cluster. told hears of each part before it runs.
func RunSelf(ctx context.Context, executable string, cfg Config, told func(string)) ([]*Row, error) {
	var rows []*Row
	for _, stage := range []struct {
		name     string
		args     []string
		replicas int // of the Deployment
		parts    []string
	}{
		{"a first Deployment, then an idle cluster of 3 nodes", []string{"up"}, 1, []string{PartDeployment, PartIdle}},
		{"an idle cluster of 100 nodes", []string{"up", "--nodes", "100"}, 0, []string{PartIdle}},
		{"requests on the API server alone, beside raw etcd", []string{"apiserver"}, 0, []string{PartRaw, PartObjects, PartWatch}},
		{"a list, on a cluster without nodes", []string{"up", "--nodes", "0"}, 0, []string{PartList}},
		{"a Deployment, on a cluster of 100 nodes", []string{"up", "--nodes", "100"}, cfg.Replicas, []string{PartDeployment}},
	} {
		told(stage.name)
		cfg.Replicas = stage.replicas
		more, err := runStage(ctx, executable, cfg, stage.args, stage.parts)
		rows = append(rows, more...)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", stage.name, err)
		}
	}
	return rows, nil
}

// runStage measures parts on one fresh server, which is ready when it has said so.
func runStage(ctx context.Context, executable string, cfg Config, args, parts []string) ([]*Row, error) {
	child, err := StartChild(ctx, executable, args...)
	if err != nil {
		return nil, err
	}
	defer child.Stop()
	cfg.RESTConfig = child.RESTConfig()
	rows, err := Run(ctx, cfg, parts...)
	start := &Row{What: "process start to ready: " + strings.Join(args, " "), Count: 1, Took: child.Took}
	return append([]*Row{start}, rows...), err
}
