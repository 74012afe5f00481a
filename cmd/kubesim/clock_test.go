package main

import (
	"strings"
	"testing"
)

// TestClock pauses the time of a sandbox, jumps ahead and reads the errors.
func TestClock(t *testing.T) {
	up := startProcess(t, "up", "--ephemeral", "--http", "127.0.0.1:0", "--https", "", "--nodes", "1", "--paused")
	clock := func(args ...string) (string, error) {
		stdout, _, err := runKubesim(t, append([]string{"clock", "--server", up.url}, args...)...)
		return stdout, err
	}
	first, err := clock()
	if err != nil || !strings.Contains(first, "stands") {
		t.Fatalf("%s, %v", first, err)
	}
	again, err := clock()
	if err != nil || again[:23] != first[:23] {
		t.Errorf("paused at %s, then %s, %v", first, again, err)
	}
	ahead, err := clock("advance", "10m")
	if err != nil || ahead[:16] == first[:16] || ahead[16:19] != first[16:19] {
		t.Errorf("ten minutes after %s is %s, %v", first, ahead, err)
	}
	fast, err := clock("speed", "100")
	if err != nil || !strings.Contains(fast, "runs at 100x") {
		t.Errorf("%s, %v", fast, err)
	}
	for _, args := range [][]string{{"speed", "fast"}, {"advance", "tomorrow"}, {"speed", "0"}} {
		if out, err := clock(args...); err == nil {
			t.Errorf("%v: %s, want an error", args, out)
		}
	}
}
