package fault

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// life is a process between two crashes.
type life struct {
	kill    context.CancelFunc
	crashed bool
}

// Keep runs a process and starts it anew after each crash, when the fault is over.
// It returns when the process ends by itself or with the context.
func (i *Injector) Keep(ctx context.Context, process string, run func(context.Context) error) error {
	for {
		i.waitUp(ctx, process)
		own, kill := context.WithCancel(ctx)
		l := &life{kill: kill}
		i.mu.Lock()
		if i.down(process) != nil { // just now
			i.mu.Unlock()
			kill()
			continue
		}
		i.lives[process] = l
		i.mu.Unlock()
		err := run(own)
		kill()
		i.mu.Lock()
		crashed := l.crashed
		i.mu.Unlock()
		if !crashed || ctx.Err() != nil {
			return err
		}
	}
}

func (i *Injector) waitUp(ctx context.Context, process string) {
	for a := i.down(process); a != nil && ctx.Err() == nil; a = i.down(process) {
		select {
		case <-a.ended:
		case <-ctx.Done():
		}
	}
}

// down is the fault by which a process is not there, nil if it is.
func (i *Injector) down(process string) *active {
	for _, a := range i.all() {
		if a.process() == process && a.left.Load() == 0 {
			return a
		}
	}
	return nil
}

// kill ends the process of a Crash; the caller holds the lock.
func (i *Injector) kill(a *active) {
	l := i.lives[a.process()]
	if l == nil || l.crashed {
		return
	}
	a.hits.Add(1)
	l.crashed = true
	l.kill()
}

// errCrashed answers what a dead process still says.
func errCrashed() error { return apierrors.NewServiceUnavailable("fault: the client has crashed") }

// counted carries out a write of a process that is to crash after so many of them.
// The answer of the last is lost with it.
func (i *Injector) counted(a *active, w http.ResponseWriter, r *http.Request, next http.Handler) error {
	held := &heldAnswer{header: http.Header{}}
	next.ServeHTTP(held, r)
	if held.code < http.StatusBadRequest && i.countDown(a) {
		return errCrashed()
	}
	held.send(w)
	return nil
}

// countDown notes a write, and tells whether it was the last or came too late.
func (i *Injector) countDown(a *active) (crashed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if a.left.Load() == 0 {
		return true
	}
	select {
	case <-a.ended: // cleared meanwhile
		return false
	default:
	}
	if a.left.Add(-1) > 0 {
		return false
	}
	i.kill(a)
	return true
}

// heldAnswer is the answer to a write before it is known whether anybody gets it.
type heldAnswer struct {
	header http.Header
	code   int
	body   []byte
}

// Header implements http.ResponseWriter.
func (h *heldAnswer) Header() http.Header { return h.header }

// WriteHeader implements http.ResponseWriter.
func (h *heldAnswer) WriteHeader(code int) {
	if h.code == 0 {
		h.code = code
	}
}

// Write implements http.ResponseWriter.
func (h *heldAnswer) Write(b []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	h.body = append(h.body, b...)
	return len(b), nil
}

func (h *heldAnswer) send(w http.ResponseWriter) {
	for key, values := range h.header {
		w.Header()[key] = values
	}
	w.WriteHeader(max(h.code, http.StatusOK))
	_, _ = w.Write(h.body) // the client is gone if it fails
}
