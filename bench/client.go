package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"
)

// client speaks plain HTTP to the server: client-go would take more of the
// shared cores than the server under test.
type client struct {
	http *http.Client
	base string
}

func newClient(config *rest.Config, connections int) (*client, error) {
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	wrapped, err := rest.HTTPWrappersForConfig(config, &http.Transport{
		TLSClientConfig:     tls,
		MaxIdleConnsPerHost: connections,
		DisableCompression:  true, // the lists are measured uncompressed
	})
	if err != nil {
		return nil, err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	return &client{http: &http.Client{Transport: wrapped}, base: base.Scheme + "://" + base.Host}, nil
}

// open sends a request and returns the answer's body, an error unless it is 2xx.
func (c *client) open(ctx context.Context, method, path string, body []byte) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "kubesim-bench")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 == 2 {
		return response.Body, nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1024))
	return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
}

// do sends a request and reads the whole answer.
func (c *client) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	answer, err := c.open(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	return io.ReadAll(answer)
}

// usage is what the server's process has taken so far.
type usage struct {
	cpu    time.Duration
	memory uint64 // resident bytes
	known  bool   // false when the server tells nobody, or not us
}

// usage asks the server's metrics.
func (c *client) usage(ctx context.Context) usage {
	text, err := c.open(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return usage{}
	}
	defer text.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(text)
	cpu, memory := families["process_cpu_seconds_total"], families["process_resident_memory_bytes"]
	if err != nil || cpu == nil || memory == nil {
		return usage{}
	}
	seconds := cpu.GetMetric()[0].GetCounter().GetValue()
	return usage{
		cpu:    time.Duration(seconds * float64(time.Second)),
		memory: uint64(memory.GetMetric()[0].GetGauge().GetValue()),
		known:  true,
	}
}
