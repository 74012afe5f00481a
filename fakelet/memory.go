package fakelet

import (
	"maps"
	"time"
)

// memory is what a kubelet knows of a pod that no status says: what failed, and
// when it is tried again. It is lost with the process, as a kubelet's is.
type memory map[string]attempt

// attempt is something that failed or was told.
type attempt struct {
	failed    int
	succeeded int
	at        time.Time // when it was tried last
	next      time.Time // when it is tried again
}

// remember keeps an attempt for the steps to come. Maps are never changed, since
// an earlier step's may still be read.
func (p *pass) remember(key string, a attempt) {
	kept := maps.Clone(p.memory)
	if kept == nil {
		kept = memory{}
	}
	kept[key] = a
	p.memory = kept
}

// forget drops an attempt that has succeeded.
func (p *pass) forget(key string) {
	if _, ok := p.memory[key]; ok {
		kept := maps.Clone(p.memory)
		delete(kept, key)
		p.memory = kept
	}
}

// first is true the first time that it is asked for a key.
func (p *pass) first(key string) bool {
	if _, ok := p.memory[key]; ok {
		return false
	}
	p.remember(key, attempt{at: p.now})
	return true
}

// failed counts another failure and says when to try again: after first, doubled
// each time up to most.
func (p *pass) failed(key string, first, most time.Duration) attempt {
	a := p.memory[key]
	a.at, a.next = p.now, p.now.Add(min(first<<min(a.failed, 10), most))
	a.failed++
	p.remember(key, a)
	return a
}
