package fault

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/rbac"
)

// asked is a request, in the words of a Fault.
type asked struct {
	*rbac.Attributes
	agent string // the client program
}

const accountPrefix = "system:serviceaccount:kube-system:"

// agents are the client programs of the parts.
const (
	controllersAgent = "kube-controller-manager"
	kubeletAgent     = "kubelet"
)

// process is the part that asks, "" for somebody else.
func (q asked) process() string {
	switch user := q.User.Username; {
	case user == "system:kube-scheduler":
		return Scheduler
	case q.agent == kubeletAgent:
		return Kubelets
	case user == "system:kube-controller-manager", q.agent == controllersAgent && strings.HasPrefix(user, accountPrefix):
		return Controllers
	}
	return ""
}

func (q asked) from(who string) bool {
	user := q.User.Username
	return who == "" || who == user || who == q.agent || who == q.process() || accountPrefix+who == user
}

func (q asked) resource(name string) bool {
	group := q.Resource
	if q.Group != "" {
		group += "." + q.Group
	}
	return name == "" || name == q.Resource || name == q.FullResource() || name == group
}

func (q asked) writes() bool {
	switch q.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// picks tells whether the fault is for a request.
func (a *active) picks(q asked) bool {
	if a.onProcess() || a.onWatch() != (q.Verb == "watch") && a.onWatch() {
		return false
	}
	is := func(want, got string) bool { return want == "" || want == got }
	return q.from(a.From) && is(a.Verb, q.Verb) && q.resource(a.Resource) && is(a.Namespace, q.Namespace) && is(a.Name, q.Name)
}

// Serve takes the requests of an API server; it is an apiserver.Config's Faults.
func (i *Injector) Serve(w http.ResponseWriter, r *http.Request, attributes func() *rbac.Attributes, next http.Handler) error {
	all := i.all()
	if len(all) == 0 && r.Method != http.MethodGet {
		next.ServeHTTP(w, r)
		return nil
	}
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	q := asked{Attributes: attributes(), agent: agent}
	if q.Path != "" { // no resource
		next.ServeHTTP(w, r)
		return nil
	}
	if process := q.process(); process != "" && i.down(process) != nil {
		return errCrashed()
	}
	for _, a := range all {
		if err := a.disturb(r.Context(), i, q); err != nil {
			return err
		}
	}
	if q.Verb == "watch" {
		i.stream(w, r, q, next)
		return nil
	}
	for _, a := range all {
		if a.Kind == Crash && q.writes() && a.writer(q) && a.left.Load() > 0 {
			return i.counted(a, w, r, next)
		}
	}
	next.ServeHTTP(w, r)
	return nil
}

// writer tells whether a request is the target's of a Crash.
func (a *active) writer(q asked) bool {
	return a.Target == q.process() || accountPrefix+a.Target == q.User.Username
}

// disturb delays or refuses a request.
func (a *active) disturb(ctx context.Context, i *Injector, q asked) error {
	if !a.picks(q) || a.Kind != Answer && a.Kind != Slow && a.Kind != Cut || !a.lucky() {
		return nil
	}
	a.hits.Add(1)
	if a.By.Duration > 0 && !a.sleep(ctx, i, a.By.Duration) {
		return apierrors.NewServiceUnavailable("fault " + a.ID + ": the client left")
	}
	switch a.Kind {
	case Answer:
		return a.answer(q)
	case Cut:
		return apierrors.NewServiceUnavailable("fault " + a.ID + ": the watch is cut")
	}
	return nil
}

// sleep waits, at most until the fault ends. It tells whether the client is still there.
func (a *active) sleep(ctx context.Context, i *Injector, d time.Duration) bool {
	timer := i.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-a.ended:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// answer is the error that a real server gives with the code.
func (a *active) answer(q asked) error {
	why := "fault " + a.ID
	resource := schema.GroupResource{Group: q.Group, Resource: q.Resource}
	switch a.Code {
	case http.StatusConflict:
		if q.Verb == "create" {
			return apierrors.NewAlreadyExists(resource, q.Name)
		}
		return apierrors.NewConflict(resource, q.Name, fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again (%s)", why))
	case http.StatusGone:
		return apierrors.NewResourceExpired("too old resource version (" + why + ")")
	case http.StatusTooManyRequests:
		return apierrors.NewTooManyRequests("the server has received too many requests and has asked us to try again later ("+why+")", 1)
	case http.StatusServiceUnavailable:
		return apierrors.NewServiceUnavailable("the server is currently unable to handle the request (" + why + ")")
	case http.StatusGatewayTimeout:
		return apierrors.NewTimeoutError("the request did not complete in time ("+why+")", 1)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
		Message: "Internal error occurred: " + why,
	}}
}
