package profile

import "github.com/kubesim/kubesim/scheduler/framework"

// maxMemos bounds the signatures remembered; a memo of 5000 nodes takes about 300 kB.
const maxMemos = 32

// memo is what local plugins said about the nodes for one signature.
type memo struct {
	layout  int64 // of the snapshot, whose indexes the slices share
	used    int64 // attempt that used it last
	filters []filterMemo
	scores  []scoreMemo
}

type filterMemo struct {
	generation int64 // of the node judged
	status     *framework.Status
}

type scoreMemo struct {
	generation int64
	raw        [maxLocalScores]int64
}

// memoFor returns the memo of a signature, nil on its first appearance: most
// pods that come alone stay alone.
func (p *Profile) memoFor(signature string, snapshot *framework.Snapshot) *memo {
	p.attempts++
	if signature == "" {
		return nil
	}
	m, ok := p.memos[signature]
	if !ok {
		p.evict()
		p.memos[signature] = &memo{used: p.attempts}
		return nil
	}
	m.used = p.attempts
	if m.layout != snapshot.Layout || m.filters == nil {
		m.layout = snapshot.Layout
		m.filters = make([]filterMemo, len(snapshot.Nodes))
		m.scores = make([]scoreMemo, len(snapshot.Nodes))
	}
	return m
}

// evict makes room for one more.
func (p *Profile) evict() {
	if len(p.memos) < maxMemos {
		return
	}
	var oldest string
	var used int64
	for signature, m := range p.memos {
		if oldest == "" || m.used < used {
			oldest, used = signature, m.used
		}
	}
	delete(p.memos, oldest)
}
