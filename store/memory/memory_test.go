package memory_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/kubesim/kubesim/store"
	"github.com/kubesim/kubesim/store/memory"
	"github.com/kubesim/kubesim/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return memory.New() })
}

// In a bubble synctest.Wait returns when all goroutines are durably blocked,
// so it would hang, or the bubble deadlock, if a watch did more than wait.
func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		idle := s.Watch(t.Context(), "/", 1) // never read
		w := s.Watch(t.Context(), "/a/", 1)
		if first := <-w.Events(); first[0].Type != store.Progress || first[0].Revision != 1 {
			t.Errorf("first batch of an empty store: %+v, want progress at 1", first)
		}
		for _, step := range []struct {
			create string
			want   store.EventType
		}{{"/a/1", store.Put}, {"/b/1", store.Progress}} {
			revision, err := s.Create(t.Context(), step.create, nil)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := <-w.Events(); len(got) != 1 || got[0].Type != step.want || got[0].Revision != revision {
				t.Errorf("after creating %s: %+v, want type %d at revision %d", step.create, got, step.want, revision)
			}
		}
		s.Close()
		for range idle.Events() {
		}
		if !errors.Is(idle.Err(), store.ErrClosed) {
			t.Errorf("idle watch ended with %v", idle.Err())
		}
	})
}
