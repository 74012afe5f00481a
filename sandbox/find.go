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
// else one at the fallback URL, if there is one.
func Find(ctx context.Context, dataDir, fallback string) (*rest.Config, error) {
	if path := FindKubeconfig(ctx, dataDir); path != "" {
		return clientcmd.BuildConfigFromFlags("", path)
	}
	if fallback == "" {
		return nil, fmt.Errorf("no sandbox is running on %s", dataDir)
	}
	if config := (&rest.Config{Host: fallback}); answers(ctx, config) {
		return config, nil
	}
	return nil, fmt.Errorf("no sandbox is running on %s or at %s: start one with `kubesim up`, or name a server with --server or --kubeconfig", dataDir, fallback)
}

// FindKubeconfig returns the kubeconfig of the data directory, "" when no
// sandbox answers where that points.
func FindKubeconfig(ctx context.Context, dataDir string) string {
	path := KubeconfigPath(dataDir)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil || !answers(ctx, config) {
		return ""
	}
	return path
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
