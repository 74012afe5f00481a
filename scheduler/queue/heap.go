package queue

import "container/heap"

// podHeap is a heap of pods that know their place in it.
type podHeap struct {
	pods []*Pod
	less func(a, b *Pod) bool
}

func (h *podHeap) push(p *Pod)   { heap.Push(h, p) }
func (h *podHeap) pop() *Pod     { return heap.Pop(h).(*Pod) }
func (h *podHeap) remove(p *Pod) { heap.Remove(h, p.index) }
func (h *podHeap) fix(p *Pod)    { heap.Fix(h, p.index) }

func (h *podHeap) peek() *Pod {
	if len(h.pods) == 0 {
		return nil
	}
	return h.pods[0]
}

// Len, Less, Swap, Push and Pop are heap.Interface.
func (h *podHeap) Len() int           { return len(h.pods) }
func (h *podHeap) Less(i, j int) bool { return h.less(h.pods[i], h.pods[j]) }
func (h *podHeap) Swap(i, j int) {
	h.pods[i], h.pods[j] = h.pods[j], h.pods[i]
	h.pods[i].index, h.pods[j].index = i, j
}

func (h *podHeap) Push(x any) {
	p := x.(*Pod)
	p.index = len(h.pods)
	h.pods = append(h.pods, p)
}

func (h *podHeap) Pop() any {
	last := len(h.pods) - 1
	p := h.pods[last]
	h.pods[last] = nil
	h.pods = h.pods[:last]
	return p
}
