package framework

// Snapshot is the cluster as one scheduling cycle sees it.
type Snapshot struct {
	// Nodes is in the order of search, which takes zones in turn.
	Nodes []*NodeInfo
	// Layout changes whenever nodes come or go, that is, when Index gets a new meaning.
	Layout int64
	// ImageNodes counts the nodes that have an image.
	ImageNodes map[string]int

	// Nodes with pods that have affinity terms, or required anti-affinity terms.
	WithAffinity             []*NodeInfo
	WithRequiredAntiAffinity []*NodeInfo

	byName  map[string]*NodeInfo
	version int64 // rises with each Replace
	changes []int // indexes of the nodes replaced last, the newest last
}

// maxChanges is for how many replaced nodes Changed can answer.
const maxChanges = 1024

// NewSnapshot returns a snapshot of nodes, in their order.
func NewSnapshot(nodes ...*NodeInfo) *Snapshot {
	s := &Snapshot{}
	s.Reset(nodes)
	return s
}

// Node returns the node with that name, nil if there is none.
func (s *Snapshot) Node(name string) *NodeInfo { return s.byName[name] }

// Reset takes over a new list of nodes.
func (s *Snapshot) Reset(nodes []*NodeInfo) {
	s.Nodes = nodes
	s.Layout++
	s.byName = make(map[string]*NodeInfo, len(nodes))
	s.ImageNodes = nil
	for i, n := range nodes {
		n.Index = i
		s.byName[n.Name()] = n
		s.countImages(n)
	}
	s.indexAffinity()
}

// Replace puts the new state of a node in the place of its old one. Images are
// counted anew only by Reset: they steer a preference and change rarely.
func (s *Snapshot) Replace(n *NodeInfo) {
	old := s.Nodes[n.Index]
	s.version++
	if len(s.changes) == 2*maxChanges {
		s.changes = append(s.changes[:0], s.changes[maxChanges:]...)
	}
	s.changes = append(s.changes, n.Index)
	s.Nodes[n.Index] = n
	s.byName[n.Name()] = n
	if touchesAffinity(old) || touchesAffinity(n) {
		s.indexAffinity()
	}
}

// Version counts the nodes replaced so far.
func (s *Snapshot) Version() int64 { return s.version }

// Changed returns the indexes of the nodes replaced since a version, some
// perhaps more than once. It is not ok if they are too many to remember. So
// sums over all nodes can be kept up to date at the price of those that changed.
func (s *Snapshot) Changed(since int64) (indexes []int, ok bool) {
	n := int(s.version - since)
	if n > len(s.changes) {
		return nil, false
	}
	return s.changes[len(s.changes)-n:], true
}

func (s *Snapshot) countImages(n *NodeInfo) {
	for name := range n.ImageSizes {
		if s.ImageNodes == nil {
			s.ImageNodes = map[string]int{}
		}
		s.ImageNodes[name]++
	}
}

func (s *Snapshot) indexAffinity() {
	s.WithAffinity, s.WithRequiredAntiAffinity = s.WithAffinity[:0], s.WithRequiredAntiAffinity[:0]
	for _, n := range s.Nodes {
		if len(n.PodsWithAffinity) > 0 {
			s.WithAffinity = append(s.WithAffinity, n)
		}
		if len(n.PodsWithRequiredAntiAffinity) > 0 {
			s.WithRequiredAntiAffinity = append(s.WithRequiredAntiAffinity, n)
		}
	}
}

func touchesAffinity(n *NodeInfo) bool {
	return len(n.PodsWithAffinity) > 0 || len(n.PodsWithRequiredAntiAffinity) > 0
}
