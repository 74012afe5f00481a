package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/transport"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
	"k8s.io/kube-openapi/pkg/handler3"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/discovery"
)

const (
	// checkInterval is how often a server behind an APIService is asked whether it is
	// still there, retryInterval how often one that is not.
	checkInterval, retryInterval = 30 * time.Second, 2 * time.Second
	// checkTimeout bounds one such question.
	checkTimeout = 5 * time.Second
)

// aggregation hands group versions of the API on to other servers, as APIServices say,
// and reports whether these are available. A cluster without such APIServices has
// nothing of it but a goroutine that sleeps.
type aggregation struct {
	*follower
	s       *Server
	remotes map[string]*remote // by name of the APIService
}

// remote is a server behind an APIService.
type remote struct {
	service   *apiregistrationv1.APIService // not to be changed
	transport http.RoundTripper
	err       error // why there is no transport

	// What it answered last, and when and where it was asked.
	resources *metav1.APIResourceList
	openapi   string // URL of its OpenAPI document, "" if it has none
	checked   time.Time
	target    string
	failure   error
}

func newAggregation(s *Server) *aggregation {
	a := &aggregation{follower: newFollower(s, apiregistrationv1.GroupName, "v1", "apiservices"), s: s, remotes: map[string]*remote{}}
	a.follower.take, a.follower.drop = a.take, a.drop
	return a
}

func (a *aggregation) take(name string, e *cache.Entry) {
	service := &apiregistrationv1.APIService{}
	if err := json.Unmarshal(e.JSON, service); err != nil {
		a.s.log.Error("Failed to read an APIService", "apiService", name, "err", err)
		return
	}
	old := a.remotes[name]
	switch {
	case service.Spec.Service == nil:
		delete(a.remotes, name)
	case old != nil && sameServer(old.service, service):
		now := *old
		now.service = service
		a.remotes[name] = &now
	default:
		now := &remote{service: service}
		now.transport, now.err = transport.New(transportOf(service))
		a.remotes[name] = now
	}
}

func (a *aggregation) drop(name string) { delete(a.remotes, name) }

func sameServer(a, b *apiregistrationv1.APIService) bool {
	return *a.Spec.Service.Port == *b.Spec.Service.Port && a.Spec.Service.Name == b.Spec.Service.Name &&
		a.Spec.Service.Namespace == b.Spec.Service.Namespace && string(a.Spec.CABundle) == string(b.Spec.CABundle) &&
		a.Spec.InsecureSkipTLSVerify == b.Spec.InsecureSkipTLSVerify
}

func transportOf(service *apiregistrationv1.APIService) *transport.Config {
	tls := transport.TLSConfig{
		Insecure: service.Spec.InsecureSkipTLSVerify, CAData: service.Spec.CABundle,
		ServerName: service.Spec.Service.Name + "." + service.Spec.Service.Namespace + ".svc",
	}
	return &transport.Config{TLS: tls}
}

// all are the remotes as the newest APIServices have them, by name.
func (a *aggregation) all() []*remote {
	a.catchUp()
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]*remote, 0, len(a.remotes))
	for _, r := range a.remotes {
		out = append(out, r)
	}
	slices.SortFunc(out, func(x, y *remote) int { return strings.Compare(x.service.Name, y.service.Name) })
	return out
}

// versions are the group versions of the remotes, for discovery.
func (a *aggregation) versions() []discovery.Remote {
	var out []discovery.Remote
	if a.s.cfg.Metrics {
		out = append(out, metricsVersion())
	}
	for _, r := range a.all() {
		spec := r.service.Spec
		v := discovery.Remote{Group: spec.Group, Version: spec.Version, GroupPriority: spec.GroupPriorityMinimum, VersionPriority: spec.VersionPriority}
		if r.failure == nil {
			v.Resources = r.resources
		}
		out = append(out, v)
	}
	return out
}

// documents are the URLs of the remotes' OpenAPI documents by their place in the index.
func (a *aggregation) documents() map[string]string {
	out := map[string]string{}
	for _, r := range a.all() {
		if r.openapi != "" {
			out[r.path()] = r.openapi
		}
	}
	return out
}

// path of the group version, without a slash before it.
func (r *remote) path() string { return "apis/" + r.service.Spec.Group + "/" + r.service.Spec.Version }

// run keeps the conditions of APIServices right until the server ends.
func (a *aggregation) run() {
	for {
		changed := a.resource().Changed()
		remotes := a.all()
		if len(remotes) == 0 {
			select {
			case <-changed:
				continue
			case <-a.s.ended.Done():
				return
			}
		}
		services, endpoints := a.changes("", "services"), a.changes("discovery.k8s.io", "endpointslices")
		next := checkInterval
		for _, r := range remotes {
			if !a.check(a.s.ended, r) {
				next = retryInterval
			}
		}
		timer := a.s.clock.NewTimer(next)
		select {
		case <-changed:
		case <-services:
		case <-endpoints:
		case <-timer.C():
		case <-a.s.ended.Done():
		}
		timer.Stop()
		if a.s.ended.Err() != nil {
			return
		}
	}
}

func (a *aggregation) changes(group, resource string) <-chan struct{} {
	return a.s.cache.Resource(a.s.table.get(group, "v1", resource).prefix).Changed()
}

// check finds out whether a remote is available, says so in its APIService, and
// returns it.
func (a *aggregation) check(ctx context.Context, r *remote) bool {
	c := a.availability(ctx, r)
	if old := helper.GetAPIServiceConditionByType(r.service, c.Type); old != nil &&
		old.Status == c.Status && old.Reason == c.Reason && old.Message == c.Message {
		return c.Status == apiregistrationv1.ConditionTrue
	}
	err := cacheLister{a.s}.UpdateStatus(ctx, apiregistrationv1.SchemeGroupVersion.WithResource("apiservices"), "", r.service.Name,
		func(obj runtime.Object) error {
			c.LastTransitionTime = a.s.now()
			helper.SetAPIServiceCondition(obj.(*apiregistrationv1.APIService), c)
			return nil
		})
	if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
		a.s.log.Error("Failed to update the status of an APIService", "apiService", r.service.Name, "err", err)
	}
	return c.Status == apiregistrationv1.ConditionTrue
}

// availability is the condition Available as it should be now.
func (a *aggregation) availability(ctx context.Context, r *remote) apiregistrationv1.APIServiceCondition {
	c := apiregistrationv1.APIServiceCondition{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionFalse}
	if c.Reason, c.Message = a.reachable(ctx, r.service.Spec.Service); c.Reason != "" {
		return c
	}
	if err := a.ask(ctx, r); err != nil {
		c.Reason, c.Message = "FailedDiscoveryCheck", err.Error()
		return c
	}
	c.Status, c.Reason, c.Message = apiregistrationv1.ConditionTrue, "Passed", "all checks passed"
	return c
}

// ask requests the resources that a remote serves, unless it answered just now, and
// keeps them.
func (a *aggregation) ask(ctx context.Context, r *remote) error {
	if r.err != nil {
		return r.err
	}
	ref := r.service.Spec.Service
	at, err := a.s.resolveService(ctx, ref.Namespace, ref.Name, *ref.Port)
	if err != nil {
		return err
	}
	now := a.s.clock.Now()
	if r.target == at.Host && r.failure == nil && now.Sub(r.checked) < checkInterval {
		return nil
	}
	resources, document, err := r.fetch(ctx, at)
	a.mu.Lock()
	defer a.mu.Unlock()
	if current := a.remotes[r.service.Name]; current != nil {
		updated := *current
		updated.checked, updated.target, updated.failure = now, at.Host, err
		if err == nil {
			updated.resources, updated.openapi = resources, document
		}
		a.remotes[r.service.Name] = &updated
	}
	return err
}

// fetch gets the resources of the remote's group version, and where its OpenAPI document is.
func (r *remote) fetch(ctx context.Context, at *url.URL) (*metav1.APIResourceList, string, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	at.Path = "/" + r.path()
	resources := &metav1.APIResourceList{}
	if err := r.get(ctx, at, resources); err != nil {
		return nil, "", err
	}
	at.Path = "/openapi/v3"
	var index handler3.OpenAPIV3Discovery
	if err := r.get(ctx, at, &index); err != nil {
		return resources, "", nil // a server without OpenAPI is a good one all the same
	}
	return resources, index.Paths[r.path()].ServerRelativeURL, nil
}

func (r *remote) get(ctx context.Context, from *url.URL, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", mediaJSON)
	transport.SetAuthProxyHeaders(request, "system:kube-aggregator", "", []string{"system:masters"}, nil)
	response, err := r.transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("failing or missing response from %v: %w", from, &url.Error{Op: "Get", URL: from.String(), Err: err})
	}
	defer response.Body.Close()
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices {
		err := fmt.Errorf("bad status from %v: %d", from, response.StatusCode)
		return fmt.Errorf("failing or missing response from %v: %w", from, err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// reachable tells why a Service leads nowhere: reason and message, "" if it may lead somewhere.
func (a *aggregation) reachable(ctx context.Context, ref *apiregistrationv1.ServiceReference) (reason, message string) {
	_, err := a.s.resolveService(ctx, ref.Namespace, ref.Name, *ref.Port)
	var problem *serviceError
	switch {
	case err == nil:
		return "", ""
	case apierrors.IsNotFound(err):
		return "ServiceNotFound", fmt.Sprintf("service/%s in %q is not present", ref.Name, ref.Namespace)
	case errors.As(err, &problem):
		return problem.reason, problem.message
	}
	return "ServiceAccessError", fmt.Sprintf("service/%s in %q cannot be checked due to: %v", ref.Name, ref.Namespace, err)
}

// extraOf are a user's further attributes as headers carry them.
func extraOf(user authenticationv1.UserInfo) map[string][]string {
	out := make(map[string][]string, len(user.Extra))
	for key, values := range user.Extra {
		out[key] = values
	}
	return out
}
