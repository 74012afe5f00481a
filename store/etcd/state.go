package etcd

import (
	"sync"
	"sync/atomic"
)

// state is what a store and its backend know together.
type state struct {
	newest atomic.Int64 // of all revisions seen in any response

	once   sync.Once
	failed chan struct{}
	err    error // set before failed is closed
}

func newState() *state { return &state{failed: make(chan struct{})} }

// raise notes that revision exists.
func (s *state) raise(revision int64) {
	for old := s.newest.Load(); revision > old; old = s.newest.Load() {
		if s.newest.CompareAndSwap(old, revision) {
			return
		}
	}
}

// fail marks the store as one that can serve no more. The first reason stays.
func (s *state) fail(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.failed)
	})
}

// failure returns the reason given to fail, nil while all is well.
func (s *state) failure() error {
	select {
	case <-s.failed:
		return s.err
	default:
		return nil
	}
}
