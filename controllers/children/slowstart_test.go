package children

import (
	"errors"
	"sync/atomic"
	"testing"
)

func TestSlowStart(t *testing.T) {
	for name, test := range map[string]struct {
		n, failFrom, calls int
	}{
		"all succeed":             {n: 20, failFrom: 20, calls: 20},
		"first fails":             {n: 500, failFrom: 0, calls: 1},
		"room for five":           {n: 500, failFrom: 5, calls: 7}, // 1+2+4
		"nothing to do":           {n: 0, calls: 0},
		"last batch is cut short": {n: 4, failFrom: 4, calls: 4},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			err := SlowStart(test.n, func(i int) error {
				calls.Add(1)
				if i >= test.failFrom {
					return errors.New("full")
				}
				return nil
			})
			if int(calls.Load()) != test.calls {
				t.Errorf("%d calls, want %d", calls.Load(), test.calls)
			}
			if failed := test.calls > test.failFrom; (err != nil) != failed {
				t.Errorf("error %v", err)
			}
		})
	}
}
