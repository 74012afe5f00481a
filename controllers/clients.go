package controllers

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"

	"github.com/kubesim/kubesim/trace"
)

// clients reach the API as one user.
type clients struct {
	client   kubernetes.Interface
	metadata metadata.Interface
	scales   scale.ScalesGetter
	mapper   meta.ResettableRESTMapper
	rest     *rest.Config
}

func newClients(config *rest.Config) (*clients, error) {
	rc := rest.CopyConfig(config)
	rc.UserAgent = userAgent
	if rc.QPS == 0 {
		rc.QPS = -1 // the server is next door
	}
	rc.WarningHandler = rest.NoWarnings{} // such as that Endpoints are deprecated, at each write
	rc.Wrap(trace.Transport)
	client, err := kubernetes.NewForConfig(rc)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	objects, err := metadata.NewForConfig(rc)
	if err != nil {
		return nil, fmt.Errorf("metadata client: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	scales, err := scale.NewForConfig(rc, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, fmt.Errorf("scale client: %w", err)
	}
	return &clients{client: client, metadata: objects, scales: scales, mapper: mapper, rest: rc}, nil
}
