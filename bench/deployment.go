package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deployment measures a Deployment from create to all pods Ready, and from
// delete to all pods gone.
func (b *bench) deployment(ctx context.Context) ([]*Row, error) {
	const namespace = "bench-deployment"
	if err := b.podNamespace(ctx, namespace); err != nil {
		return nil, err
	}
	const deployments = "/apis/apps/v1/namespaces/" + namespace + "/deployments"
	const pods = "/api/v1/namespaces/" + namespace + "/pods"
	n := b.cfg.Replicas
	up, err := b.client.measure(ctx, fmt.Sprintf("Deployment of %d to all Ready", n), n, func() error {
		if _, err := b.client.do(ctx, http.MethodPost, deployments, deployment(n)); err != nil {
			return err
		}
		return b.watchUntil(ctx, deployments+"?watch=true", func(_ string, object json.RawMessage) (bool, error) {
			var d appsv1.Deployment
			err := json.Unmarshal(object, &d)
			return int(d.Status.ReadyReplicas) == n, err
		})
	})
	if err != nil {
		return nil, err
	}
	down, err := b.client.measure(ctx, fmt.Sprintf("its deletion to all %d gone", n), n, func() error {
		if _, err := b.client.do(ctx, http.MethodDelete, deployments+"/web?propagationPolicy=Background", nil); err != nil {
			return err
		}
		return b.watchGone(ctx, pods)
	})
	return []*Row{up, down}, err
}

// watchGone returns when a collection is empty.
func (b *bench) watchGone(ctx context.Context, path string) error {
	body, err := b.client.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	left := len(list.Items)
	if left == 0 {
		return nil
	}
	return b.watchUntil(ctx, path+"?watch=true&resourceVersion="+list.ResourceVersion, func(kind string, _ json.RawMessage) (bool, error) {
		switch kind {
		case "ADDED":
			left++
		case "DELETED":
			left--
		}
		return left == 0, nil
	})
}

// watchUntil reads the events of a watch until one is what was waited for.
func (b *bench) watchUntil(ctx context.Context, path string, done func(kind string, object json.RawMessage) (bool, error)) error {
	stream, err := b.client.open(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer stream.Close()
	events := json.NewDecoder(stream)
	for {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		if err := events.Decode(&event); err != nil {
			return fmt.Errorf("watching %s: %w", path, err)
		}
		if event.Type == "ERROR" {
			return errors.New(string(event.Object))
		}
		if ok, err := done(event.Type, event.Object); ok || err != nil {
			return err
		}
	}
}

func deployment(replicas int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":%d,`+
		`"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},`+
		`"spec":{"terminationGracePeriodSeconds":0,"containers":[{"name":"app","image":"nginx:1.29"}]}}}}`, replicas)
}
