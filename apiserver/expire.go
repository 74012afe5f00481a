package apiserver

import (
	"errors"
	"time"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/store"
)

// eventTTL is how long an event is kept after its last write, as in kube-apiserver.
const eventTTL = time.Hour

// sighting is the revision at a moment.
type sighting struct {
	at       time.Time
	revision int64
}

// expire deletes the events that nobody has written to for the TTL. How old a
// write is follows from the revisions seen at each tick. A new process counts
// from its start, as a new etcd leader does with the leases of Kubernetes' events.
func (s *Server) expire() {
	ttl := s.cfg.EventTTL
	ticker := s.clock.NewTicker(min(max(ttl/60, time.Second), time.Minute))
	defer ticker.Stop()
	seen := []sighting{{s.clock.Now(), s.cache.Revision()}} // oldest first
	for {
		select {
		case <-s.ended.Done():
			return
		case <-ticker.C():
		}
		now := s.clock.Now()
		seen = append(seen, sighting{now, s.cache.Revision()})
		for now.Sub(seen[0].at) >= ttl {
			s.deleteEvents(seen[0].revision)
			seen = seen[1:]
		}
	}
}

// deleteEvents deletes the events last written at or before a revision.
func (s *Server) deleteEvents(revision int64) {
	var old []*cache.Entry
	events := s.table.get("", "v1", "events").prefix
	s.cache.Resource(events).Snapshot().Each(events, "", func(e *cache.Entry) bool {
		if e.Revision <= revision {
			old = append(old, e)
		}
		return true
	})
	for _, e := range old {
		_, err := s.store.Delete(s.ended, e.Key, e.Revision)
		if err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict) {
			continue // gone already, or written to just now
		}
		if s.ended.Err() == nil {
			s.log.Error("Failed to delete expired events", "err", err)
		}
		return
	}
}
