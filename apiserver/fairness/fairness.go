package fairness

import (
	"context"
	"errors"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ErrFull is the answer to a request that finds neither a seat nor a place to wait.
var ErrFull = errors.New("too many requests, please try again later")

// Request is what a FlowSchema looks at.
type Request struct {
	User                             authenticationv1.UserInfo
	Verb, Group, Resource, Namespace string // Resource is RESOURCE or RESOURCE/SUBRESOURCE
	Path                             string // of what is no resource
}

// Seat is a request's leave to be worked on.
type Seat struct {
	Schema, Level types.UID
	level         *level
}

// Dispenser hands out seats.
type Dispenser struct {
	seats int

	mu      sync.Mutex
	schemas []*schema
	levels  map[string]*level
}

// New makes a Dispenser of so many seats. Without configuration everybody gets one.
func New(seats int) *Dispenser { return &Dispenser{seats: seats, levels: map[string]*level{}} }

// Configure takes over the objects as they are now. Requests at work keep their seats.
func (d *Dispenser) Configure(schemas []*flowcontrolv1.FlowSchema, levels []*flowcontrolv1.PriorityLevelConfiguration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	shares := int32(0)
	for _, l := range levels {
		shares += sharesOf(l)
	}
	known := map[string]*level{}
	for _, l := range levels {
		kept := d.levels[l.Name]
		if kept == nil {
			kept = &level{flows: map[flow]*queue{}}
		}
		kept.configure(l, d.seats, shares)
		known[l.Name] = kept
	}
	d.levels = known
	d.schemas = sortSchemas(schemas)
	for _, l := range known {
		l.dispatch()
	}
}

// Acquire returns a seat, at once or after a turn of waiting, ErrFull, or the
// context's error. The seat must be released.
func (d *Dispenser) Acquire(ctx context.Context, r *Request) (*Seat, error) {
	d.mu.Lock()
	s, l := d.classify(r)
	if l == nil {
		d.mu.Unlock()
		return &Seat{}, nil
	}
	seat := &Seat{Schema: s.uid, Level: l.uid, level: l}
	if l.exempt || l.executing < l.limit && len(l.turns) == 0 {
		l.executing++
		d.mu.Unlock()
		return seat, nil
	}
	w, err := l.wait(flow{s.name, s.distinguish(r)})
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case <-w.served:
		return seat, nil
	case <-ctx.Done():
		d.mu.Lock()
		defer d.mu.Unlock()
		select {
		case <-w.served: // both happened
			return seat, nil
		default:
			l.leave(w)
			return nil, context.Cause(ctx)
		}
	}
}

// Release gives a seat to the next who waits.
func (d *Dispenser) Release(s *Seat) {
	if s.level == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s.level.executing--
	s.level.dispatch()
}

// classify finds the first schema that is about the request, and its level.
func (d *Dispenser) classify(r *Request) (*schema, *level) {
	for _, s := range d.schemas {
		if l := d.levels[s.level]; l != nil && s.about(r) {
			return s, l
		}
	}
	return nil, nil
}
