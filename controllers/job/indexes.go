package job

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// span is a run of completion indexes, both ends included.
type span struct{ first, last int }

// indexes is a set of completion indexes: spans in order that don't touch. The
// zero value is empty. Values are not changed.
type indexes []span

// parseIndexes reads what String writes, such as "1,3-5,7", up to a number of
// completions. What it can't read it leaves out.
func parseIndexes(text string, completions int) indexes {
	var all indexes
	for part := range strings.SplitSeq(text, ",") {
		from, to, isSpan := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil || first >= completions {
			continue
		}
		last := first
		if isSpan {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		all = all.union(indexes{{first, min(last, completions-1)}})
	}
	return all
}

// String implements fmt.Stringer.
func (x indexes) String() string {
	var parts []string
	for _, s := range x {
		switch s.last - s.first {
		case 0:
			parts = append(parts, strconv.Itoa(s.first))
		case 1:
			parts = append(parts, strconv.Itoa(s.first), strconv.Itoa(s.last))
		default:
			parts = append(parts, strconv.Itoa(s.first)+"-"+strconv.Itoa(s.last))
		}
	}
	return strings.Join(parts, ",")
}

func (x indexes) total() int {
	total := 0
	for _, s := range x {
		total += s.last - s.first + 1
	}
	return total
}

func (x indexes) has(index int) bool {
	i := sort.Search(len(x), func(i int) bool { return x[i].last >= index })
	return i < len(x) && x[i].first <= index
}

// with adds indexes in any order.
func (x indexes) with(more ...int) indexes {
	if len(more) == 0 {
		return x
	}
	slices.Sort(more)
	added := make(indexes, len(more))
	for i, index := range more {
		added[i] = span{index, index}
	}
	return x.union(added)
}

func (x indexes) union(y indexes) indexes {
	all := append(slices.Clone(x), y...)
	slices.SortFunc(all, func(a, b span) int { return a.first - b.first })
	var merged indexes
	for _, s := range all {
		if n := len(merged); n > 0 && s.first <= merged[n-1].last+1 {
			merged[n-1].last = max(merged[n-1].last, s.last)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// common counts the indexes that are in both.
func (x indexes) common(y indexes) int {
	return x.total() + y.total() - x.union(y).total()
}

// missing returns the first n indexes below a number of completions that are not in the set.
func (x indexes) missing(n, completions int) []int {
	var found []int
	next := 0
	for _, s := range append(slices.Clone(x), span{completions, completions}) {
		for ; next < min(s.first, completions) && len(found) < n; next++ {
			found = append(found, next)
		}
		next = s.last + 1
	}
	return found
}

func isIndexed(job *batchv1.Job) bool {
	return job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batchv1.IndexedCompletion
}

// indexOf is the completion index of a pod, -1 if it has none.
func indexOf(pod *corev1.Pod) int {
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil || index < 0 {
		return -1
	}
	return index
}

// inRange tells whether a pod of an indexed Job has an index that the Job wants.
func inRange(job *batchv1.Job, pod *corev1.Pod) bool {
	index := indexOf(pod)
	return index >= 0 && index < int(*job.Spec.Completions)
}
