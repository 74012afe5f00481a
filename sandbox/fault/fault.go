package fault

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds of faults.
const (
	Pause  = "pause"  // Target does nothing
	Crash  = "crash"  // the process of Target is gone, and starts anew when the fault ends
	Freeze = "freeze" // watches tell nothing; all of it comes when the fault ends
	Delay  = "delay"  // watches tell everything late, by at least By
	Drop   = "drop"   // events of watches are lost
	Cut    = "cut"    // watches end, and can't be opened
	Answer = "answer" // requests are answered with Code, not carried out
	Slow   = "slow"   // requests are carried out late, by By
)

// Kinds are all of them.
func Kinds() []string { return []string{Pause, Crash, Freeze, Delay, Drop, Cut, Answer, Slow} }

// The parts of a cluster that are processes.
const (
	Controllers = "controllers"
	Scheduler   = "scheduler"
	Kubelets    = "kubelets"

	kubeletPrefix = "kubelet/"
)

const (
	// DefaultFor is how long a fault lasts, and maxFor how long at most.
	DefaultFor = time.Minute
	maxFor     = 24 * time.Hour
	// maxBy bounds how late a fault makes things.
	maxBy = time.Hour
)

// codes are what an Answer may be.
var codes = []int{
	http.StatusConflict, http.StatusGone, http.StatusTooManyRequests, http.StatusInternalServerError,
	http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// Fault is one broken link.
type Fault struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Target is of Pause and Crash: a controller's name, controllers, scheduler,
	// kubelet/NODE or kubelets.
	Target string `json:"target,omitempty"`

	// Which requests and watches are meant; empty fields match all. From is a
	// component, a user or the name of a client program, such as kubectl.
	From      string `json:"from,omitempty"`
	Verb      string `json:"verb,omitempty"`
	Resource  string `json:"resource,omitempty"` // pods, pods/status or deployments.apps
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`

	Code  int             `json:"code,omitempty"`  // of Answer
	By    metav1.Duration `json:"by,omitzero"`     // of Delay and Slow
	Rate  float64         `json:"rate,omitempty"`  // the share of requests or events, 1 if 0
	After int             `json:"after,omitempty"` // of Crash: so many writes of Target are let through, the last without an answer

	For   metav1.Duration `json:"for"`   // DefaultFor if 0
	Until time.Time       `json:"until"` // when it ends by itself
	Hits  int64           `json:"hits"`  // what it held up, lost, ended or answered so far
}

// validate fills in defaults. Errors name fields, which are the flags of the command.
func (f *Fault) validate(known func(target string) error) error {
	if f.For.Duration == 0 {
		f.For.Duration = DefaultFor
	}
	if f.Rate == 0 {
		f.Rate = 1
	}
	switch {
	case !slices.Contains(Kinds(), f.Kind):
		return fmt.Errorf("kind %q: must be one of %s", f.Kind, strings.Join(Kinds(), ", "))
	case f.For.Duration < 0 || f.For.Duration > maxFor:
		return fmt.Errorf("for %v: must be more than 0 and at most %v", f.For.Duration, maxFor)
	case !(f.Rate > 0 && f.Rate <= 1):
		return fmt.Errorf("rate %v: must be more than 0 and at most 1", f.Rate)
	case f.By.Duration < 0 || f.By.Duration > maxBy:
		return fmt.Errorf("by %v: must be at most %v", f.By.Duration, maxBy)
	case f.After < 0:
		return fmt.Errorf("after %d: must not be negative", f.After)
	case f.After > 0 && f.Kind != Crash:
		return fmt.Errorf("after: of no use with %s", f.Kind)
	case f.Code != 0 && f.Kind != Answer:
		return fmt.Errorf("code: of no use with %s", f.Kind)
	}
	if f.onProcess() {
		return f.validateTarget(known)
	}
	return f.validateRequests()
}

func (f *Fault) validateTarget(known func(string) error) error {
	if f.From+f.Verb+f.Resource+f.Namespace+f.Name != "" {
		return fmt.Errorf("from, verb, resource, namespace and name: of no use with %s, which has a target", f.Kind)
	}
	if f.Target == "" {
		return errors.New("target: must be a controller, controllers, scheduler, kubelet/NODE or kubelets")
	}
	if f.Kind == Crash && strings.HasPrefix(f.Target, kubeletPrefix) && f.After > 0 {
		return fmt.Errorf("after: of no use with %s, as all kubelets are one process; use target %s", f.Target, Kubelets)
	}
	return known(f.Target)
}

func (f *Fault) validateRequests() error {
	switch {
	case f.Target != "":
		return fmt.Errorf("target: of no use with %s; from says whose requests are meant", f.Kind)
	case f.Kind == Answer && !slices.Contains(codes, f.Code):
		return fmt.Errorf("code %d: must be one of %s", f.Code, strings.Trim(fmt.Sprint(codes), "[]"))
	case (f.Kind == Delay || f.Kind == Slow) && f.By.Duration == 0:
		return errors.New("by: required, like 2s")
	case f.onWatch() && f.Verb != "":
		return fmt.Errorf("verb: of no use with %s, which is for watches", f.Kind)
	}
	return nil
}

// onProcess tells whether a process is at fault, not requests.
func (f *Fault) onProcess() bool { return f.Kind == Pause || f.Kind == Crash }

// onWatch tells whether the fault is for watches alone.
func (f *Fault) onWatch() bool {
	return f.Kind == Freeze || f.Kind == Delay || f.Kind == Drop || f.Kind == Cut
}

// active is a fault at work.
type active struct {
	Fault
	hits  atomic.Int64
	left  atomic.Int64  // writes until a Crash with After comes; 0 when it is there
	ended chan struct{} // closed at its end
}

func (a *active) state() Fault {
	f := a.Fault
	f.Hits = a.hits.Load()
	return f
}

// stops tells whether a component does nothing because of the fault.
func (a *active) stops(component string) bool {
	if a.Kind != Pause && (a.Kind != Crash || !strings.HasPrefix(a.Target, kubeletPrefix)) {
		return false
	}
	switch a.Target {
	case component:
		return true
	case Kubelets:
		return strings.HasPrefix(component, kubeletPrefix)
	case Controllers:
		return component != Scheduler && !strings.HasPrefix(component, kubeletPrefix)
	}
	return false
}

// process is the part that a Crash ends, "" for none. A controller takes all of
// them with it, as they are one process.
func (a *active) process() string {
	switch {
	case a.Kind != Crash || strings.HasPrefix(a.Target, kubeletPrefix):
		return ""
	case a.Target == Scheduler || a.Target == Kubelets:
		return a.Target
	}
	return Controllers
}
