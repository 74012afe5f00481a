package etcd

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/zap"
)

func TestLogger(t *testing.T) {
	var log bytes.Buffer
	logger := newLogger(slog.New(slog.NewTextHandler(&log, nil)), nil)
	logger.Info("started")
	logger.Warn("failed to apply request")
	logger.With(zap.String("disk", "vda")).Warn("slow fdatasync", zap.Int("took", 3))
	got := log.String()
	if strings.Count(got, "\n") != 1 {
		t.Errorf("log has other lines than the one that matters: %s", got)
	}
	if want := `level=WARN msg="etcd: slow fdatasync" disk=vda took=3`; !strings.Contains(got, want) {
		t.Errorf("log is %s, want %s", got, want)
	}
}

// A fatal log entry of etcd, here that the disk is full, ends its goroutine
// and what the store serves, but not the process.
func TestFatalEntry(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etcd")
	s, err := Open(t.Context(), Config{DataDir: dir, NoFsync: true})
	if err != nil {
		t.Fatal(err)
	}
	w := s.Watch(t.Context(), "/", 1)

	logger := newLogger(slog.New(slog.DiscardHandler), faultHook{dir, s.state})
	var goroutine sync.WaitGroup
	for _, log := range []func(string, ...zap.Field){logger.Fatal, logger.Panic} {
		goroutine.Go(func() { log("failed to save", zap.Error(syscall.ENOSPC)) })
		goroutine.Wait()
	}

	for range w.Events() {
	}
	_, createErr := s.Create(t.Context(), "/a", nil)
	_, getErr := s.Get(t.Context(), "/a", 0)
	for _, err := range []error{w.Err(), createErr, getErr} {
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some disk space") {
			t.Errorf("error of a failed store is %v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
