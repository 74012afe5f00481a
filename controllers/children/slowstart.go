package children

import "sync"

// SlowStart calls do for 0 to n-1 in parallel batches of 1, 2, 4 and so on, and
// stops after the first batch with a failure: a request that a quota refuses is
// made a few times instead of hundreds. It returns that batch's first error.
func SlowStart(n int, do func(i int) error) error {
	for start, batch := 0, 1; start < n; batch *= 2 {
		end := min(start+batch, n)
		if err := Parallel(end-start, func(i int) error { return do(start + i) }); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// parallelism bounds the requests in flight for one owner. More would only
// queue in the server.
const parallelism = 16

// Parallel calls do for 0 to n-1 and returns the first error, if any.
func Parallel(n int, do func(i int) error) error {
	var (
		calls sync.WaitGroup
		once  sync.Once
		first error
	)
	slots := make(chan struct{}, parallelism)
	for i := range n {
		slots <- struct{}{}
		calls.Go(func() {
			defer func() { <-slots }()
			if err := do(i); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	calls.Wait()
	return first
}
