//go:build unix

package scheduler_test

import (
	"syscall"
	"testing"
	"time"
)

// cpu is the processor time that this process has taken: unlike the time on the
// clock it says the same on a machine that is busy otherwise.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
