package apiserver

import (
	"net/http"
	"net/http/httputil"
	"strings"

	"github.com/gorilla/mux"
	"k8s.io/client-go/transport"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
)

// forwarded matches the requests on a group version that another server serves. What
// is served here stays here, whatever an APIService says.
func (a *aggregation) forwarded(r *http.Request, _ *mux.RouteMatch) bool {
	remote := a.find(r.URL.Path)
	return remote != nil && !a.s.serves(remote.service.Spec.Group, remote.service.Spec.Version)
}

// find returns the remote that a path leads to.
func (a *aggregation) find(path string) *remote {
	a.catchUp()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.remotes) == 0 {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(path, "/openapi/v3"), "/"), "/")
	if len(parts) < 3 || parts[0] != "apis" {
		return nil
	}
	return a.remotes[parts[2]+"."+parts[1]]
}

// forward hands a request on, in the name of its user.
func (a *aggregation) forward(w http.ResponseWriter, r *http.Request) {
	remote := a.find(r.URL.Path)
	if remote == nil || !helper.IsAPIServiceConditionTrue(remote.service, apiregistrationv1.Available) {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	}
	ref := remote.service.Spec.Service
	at, err := a.s.resolveService(r.Context(), ref.Namespace, ref.Name, *ref.Port)
	if err != nil {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	}
	user := userOf(r.Context())
	proxy := &httputil.ReverseProxy{
		Transport: remote.transport,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = at.Scheme, at.Host, ""
			p.Out.Header.Del("Authorization")
			p.SetXForwarded()
			transport.SetAuthProxyHeaders(p.Out, user.Username, user.UID, user.Groups, extraOf(user))
		},
		FlushInterval: -1, // a watch sends event by event
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "error trying to reach service: "+err.Error(), http.StatusServiceUnavailable)
		},
	}
	proxy.ServeHTTP(w, r)
}

// serves tells whether the table has a group version.
func (s *Server) serves(group, version string) bool {
	for _, k := range s.kinds() {
		if k.Group == group && k.Version == version {
			return true
		}
	}
	return false
}
