package bench

import (
	"context"
	"fmt"
	"strconv"
)

// nodes is how many nodes the Deployment's pods are spread over.
const nodes = 100

// RunSelf measures kubesim itself, each part on a fresh server in a process of
// its own: single requests on the API server alone, what needs controllers on
// a whole cluster. told hears of each part before it runs.
func RunSelf(ctx context.Context, executable string, cfg Config, told func(string)) ([]*Row, error) {
	var rows []*Row
	for _, stage := range []struct {
		name  string
		args  []string
		parts []string
	}{
		{"requests on the API server alone, beside raw etcd", []string{"apiserver"}, []string{PartRaw, PartObjects, PartWatch}},
		{"a list, on a whole cluster", []string{"up", "--nodes", "0"}, []string{PartList}},
		{"a Deployment, on a whole cluster", []string{"up", "--nodes", strconv.Itoa(nodes)}, []string{PartDeployment}},
	} {
		told(stage.name)
		more, err := runStage(ctx, executable, cfg, stage.args, stage.parts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", stage.name, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func runStage(ctx context.Context, executable string, cfg Config, args, parts []string) ([]*Row, error) {
	child, err := StartChild(ctx, executable, args...)
	if err != nil {
		return nil, err
	}
	defer child.Stop()
	cfg.RESTConfig = child.RESTConfig()
	rows, err := Run(ctx, cfg, parts...)
	if err != nil {
		return nil, err
	}
	start := &Row{What: fmt.Sprintf("process start to ready: %q", args), Count: 1, Took: child.Took}
	return append([]*Row{start}, rows...), nil
}
