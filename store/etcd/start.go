package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
)

// openEmbedded starts the server and waits until it leads its cluster of one.
func openEmbedded(ctx context.Context, config Config, state *state) (backend, error) {
	lock, err := lockDir(config.DataDir)
	if err != nil {
		return nil, err
	}
	e := &embedded{state: state, lock: lock}
	started := make(chan error, 1)
	go func() { started <- e.start(config) }()
	select {
	case err = <-started:
	case <-state.failed: // start may never return
		lock.Close()
		return nil, unreadable(config.DataDir, errors.Unwrap(state.failure()))
	case <-ctx.Done():
		go func() { // start can't be interrupted
			if <-started == nil {
				e.close()
			} else {
				lock.Close()
			}
		}()
		return nil, ctx.Err()
	}
	if e.server == nil { // it was not ready
		lock.Close()
		return nil, err
	}
	if err == nil {
		err = e.serveClients(config.ClientListen)
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// lockDir creates the directory and keeps other processes out of it. etcd's
// own locks would make the second one wait.
func lockDir(dir string) (*fileutil.LockedFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("can't create data directory: %w", err)
	}
	lock, err := fileutil.TryLockFile(filepath.Join(dir, "lock"), os.O_WRONLY|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("data directory %s is in use by another process: stop it, or choose another directory", dir)
	}
	if err != nil {
		return nil, unreadable(dir, err)
	}
	return lock, nil
}

// start returns when the server can take requests. It does not return when
// etcd gives up with a fatal log entry; state.failed says so then.
func (e *embedded) start(config Config) (err error) {
	defer func() {
		if p := recover(); p != nil { // etcd panics at what it can't make sense of
			err = unreadable(config.DataDir, fmt.Errorf("%v", p))
		}
	}()
	if err := initialize(config, e.state); err != nil {
		return unreadable(config.DataDir, err)
	}
	server, err := run(config, e.state, snapshotCount)
	if err != nil {
		return unreadable(config.DataDir, err)
	}
	e.server = server
	e.kv = v3rpc.NewQuotaKVServer(server)
	e.state.raise(server.KV().Rev())
	return e.reclaimSpace(config.QuotaBytes)
}

// reclaimSpace ends the state in which etcd refuses writes, as the database
// has reached its quota, if the quota is larger now or history and free pages can go.
func (e *embedded) reclaimSpace(quota int64) error {
	if len(e.server.Alarms()) == 0 {
		return nil
	}
	ctx := context.Background()
	compact := &pb.CompactionRequest{Revision: e.state.newest.Load(), Physical: true}
	if _, err := e.kv.Compact(ctx, compact); err != nil && !errors.Is(err, rpctypes.ErrGRPCCompacted) {
		return fmt.Errorf("can't compact the full database: %w", err)
	}
	database := e.server.Backend()
	if err := database.Defrag(); err != nil {
		return fmt.Errorf("can't defragment the full database: %w", err)
	}
	if database.Size() >= quota {
		return nil // it still serves reads and deletes
	}
	_, err := e.server.Alarm(ctx, &pb.AlarmRequest{
		Action:   pb.AlarmRequest_DEACTIVATE,
		MemberID: uint64(e.server.MemberID()),
		Alarm:    pb.AlarmType_NOSPACE,
	})
	return err
}
