package etcd

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/kubesim/kubesim/store"
)

// explain turns an error of etcd into one of package store; revision is the
// one that the call asked for.
func (s *Store) explain(ctx context.Context, err error, revision int64) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failure := s.state.failure(); failure != nil {
		return failure
	}
	switch err := rpctypes.Error(err); {
	case errors.Is(err, rpctypes.ErrCompacted):
		return &store.CompactedError{Oldest: s.backend.oldest(ctx)}
	case errors.Is(err, rpctypes.ErrFutureRev):
		current, _ := s.backend.current(ctx) // at worst 0, unknown
		return &store.FutureRevisionError{Current: current}
	case errors.Is(err, rpctypes.ErrRequestTooLarge):
		return store.ErrTooLarge
	case errors.Is(err, rpctypes.ErrStopped):
		return store.ErrClosed
	case errors.Is(err, rpctypes.ErrNoSpace):
		return fmt.Errorf("database has reached its quota: delete objects and start again, "+
			"or start again with a larger quota: %w", err)
	default:
		return fmt.Errorf("etcd: %w", err)
	}
}

// unwritable explains why a running server stopped. All that it acknowledged is on disk.
func unwritable(dir string, cause error) error {
	advice := "check the disk and start again"
	if errors.Is(cause, syscall.ENOSPC) {
		advice = "free some disk space and start again"
	}
	return fmt.Errorf("can't write to data directory %s; acknowledged writes are safe, %s: %w", dir, advice, cause)
}

// unreadable explains why a server did not start.
func unreadable(dir string, cause error) error {
	advice := "restore it from a backup, or remove it to start empty"
	switch {
	case errors.Is(cause, syscall.ENOSPC):
		advice = "free some disk space"
	case errors.Is(cause, syscall.EACCES), errors.Is(cause, syscall.EROFS):
		advice = "make it writable, or choose another one"
	}
	return fmt.Errorf("can't open data directory %s; %s: %w", dir, advice, cause)
}
