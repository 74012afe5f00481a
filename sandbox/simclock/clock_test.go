package simclock

import (
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPausedClockStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(0)
		began := c.Now()
		fired := c.After(time.Second)
		time.Sleep(time.Hour)
		select {
		case <-fired:
			t.Error("a timer fired while the clock stood")
		default:
		}
		if !c.Now().Equal(began) {
			t.Errorf("it moved by %v", c.Since(began))
		}
		c.Resume()
		time.Sleep(time.Second)
		synctest.Wait()
		select {
		case <-fired:
		default:
			t.Error("the timer did not fire after a second")
		}
	})
}

func TestSpeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(60)
		began := c.Now()
		<-c.After(time.Hour)
		if real := time.Since(began); real != time.Minute {
			t.Errorf("an hour took %v, want a minute", real)
		}
		ticker := c.NewTicker(time.Minute)
		defer ticker.Stop()
		for range 3 {
			<-ticker.C()
		}
		if real := time.Since(began); real != time.Minute+3*time.Second {
			t.Errorf("three ticks took until %v", real)
		}
	})
}

// TestAdvanceFiresInOrder has timers that start timers; each sees its own time.
func TestAdvanceFiresInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(0)
		began := c.Now()
		var mu sync.Mutex
		var seen []time.Duration
		note := func() {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, c.Since(began))
		}
		c.AfterFunc(3*time.Minute, note)
		c.AfterFunc(time.Minute, func() {
			note()
			c.AfterFunc(time.Minute, note)
		})
		hour := c.NewTimer(time.Hour)
		defer hour.Stop()
		if err := c.Advance(t.Context(), 5*time.Minute); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if want := []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute}; !slices.Equal(seen, want) {
			t.Errorf("seen %v, want %v", seen, want)
		}
		if got := c.Since(began); got != 5*time.Minute {
			t.Errorf("advanced by %v", got)
		}
		if stepped, err := c.Step(t.Context()); !stepped || err != nil || c.Since(began) != time.Hour {
			t.Errorf("step to %v: %t, %v", c.Since(began), stepped, err)
		}
		if stepped, _ := c.Step(t.Context()); stepped {
			t.Error("a step without a timer")
		}
	})
}

func TestStopAndReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(1)
		timer := c.NewTimer(time.Second)
		if !timer.Stop() || timer.Stop() {
			t.Error("Stop tells whether the timer was to fire")
		}
		if timer.Reset(2 * time.Second) {
			t.Error("a stopped timer was active")
		}
		began := time.Now()
		<-timer.C()
		if got := time.Since(began); got != 2*time.Second {
			t.Errorf("fired after %v", got)
		}
	})
}

func TestControl(t *testing.T) {
	c := New(1)
	server := httptest.NewServer(c)
	defer server.Close()
	do := func(command Command) (State, error) {
		return Control(t.Context(), server.Client(), server.URL, command)
	}
	state, err := do(Command{Do: "pause"})
	if err != nil || state.Rate != 0 {
		t.Fatalf("%+v, %v", state, err)
	}
	later, err := do(Command{Do: "advance", For: 24 * time.Hour})
	if err != nil || later.Now.Sub(state.Now) != 24*time.Hour {
		t.Errorf("advanced from %v to %v, %v", state.Now, later.Now, err)
	}
	for words, command := range map[string]Command{
		"unknown command": {Do: "stop"}, "speed": {Do: "speed", Rate: -1}, "advance": {Do: "advance"}, "no timer": {Do: "step"},
	} {
		if _, err := do(command); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: error %v, want one with %q", command, err, words)
		}
	}
}
