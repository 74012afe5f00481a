package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// findTimeout is how long a sandbox may take to answer that it is there.
const findTimeout = 2 * time.Second

// Find returns how to reach a running sandbox: that of the data directory, or
// else one at the fallback URL.
func Find(ctx context.Context, dataDir, fallback string) (*rest.Config, error) {
	var candidates []*rest.Config
	path := KubeconfigPath(dataDir)
	if _, err := os.Stat(path); err == nil {
		config, err := clientcmd.BuildConfigFromFlags("", path)
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, config)
	}
	candidates = append(candidates, &rest.Config{Host: fallback})
	for _, config := range candidates {
		if answers(ctx, config) {
			return config, nil
		}
	}
	return nil, fmt.Errorf("no sandbox is running on %s or at %s: start one with `kubesim up`, or name a server with --server or --kubeconfig", dataDir, fallback)
}

func answers(ctx context.Context, config *rest.Config) bool {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return false
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
