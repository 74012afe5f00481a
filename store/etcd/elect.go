package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/storage/datadir"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/raft/v3/raftpb"
)

// electionRetry is how often a member tries to take over.
const electionRetry = 2 * time.Millisecond

// initialize makes the directory of a new member completely or not at all, so
// that a process that is killed here leaves nothing that can't be started. It
// ends with a snapshot of raft's state, which an election at once relies on.
func initialize(config Config, state *state) error {
	member := datadir.ToMemberDir(config.DataDir)
	if fileutil.Exist(member) {
		return nil
	}
	draft := config
	draft.DataDir = filepath.Join(config.DataDir, "new")
	if err := os.RemoveAll(draft.DataDir); err != nil {
		return err
	}
	server, err := run(draft, state, 1) // a snapshot after the second entry of the log
	if err != nil {
		return err
	}
	server.Stop()
	if err := os.Rename(datadir.ToMemberDir(draft.DataDir), member); err != nil {
		return err
	}
	return errors.Join(syncDir(config.DataDir), os.RemoveAll(draft.DataDir))
}

func syncDir(path string) error {
	dir, err := fileutil.OpenDir(path)
	if err != nil {
		return err
	}
	return errors.Join(fileutil.Fsync(dir), dir.Close())
}

// run starts a server and returns when it leads.
func run(config Config, state *state, snapshotCount uint64) (*etcdserver.EtcdServer, error) {
	serverConfig, err := serverConfig(config, newLogger(config.Logger, faultHook{config.DataDir, state}))
	if err != nil {
		return nil, err
	}
	serverConfig.SnapshotCount = snapshotCount
	if err := checkDatabase(serverConfig.BackendPath()); err != nil {
		return nil, err
	}
	isNew := !fileutil.Exist(serverConfig.WALDir())
	snapshots, _ := filepath.Glob(filepath.Join(serverConfig.SnapDir(), "*.snap")) // the pattern is valid
	server, err := etcdserver.NewServer(serverConfig)
	if err != nil {
		return nil, err
	}
	e := election{server: server, state: state, atOnce: isNew || len(snapshots) > 0}
	e.applied, e.appliedTerm = schema.ReadConsistentIndex(server.Backend().ReadTx())
	server.Start()
	if err := e.wait(); err != nil {
		if state.failure() == nil { // else it might not stop
			server.Stop()
		}
		return nil, err
	}
	return server, nil
}

// election is how a server becomes leader of its cluster of one.
type election struct {
	server *etcdserver.EtcdServer
	state  *state
	atOnce bool
	// The newest entry of raft's log that the database had before the start.
	applied, appliedTerm uint64
}

// wait returns when the server leads. A single member wins each election, yet
// raft waits for its time-out first, up to a second. If atOnce, the message
// that makes a follower take over leadership spares that.
//
// Raft panics when it is to take over and finds committed entries, not yet
// acknowledged as applied, that etcd has dropped from the log in memory. etcd
// drops those older than catchUpEntries, and the first one in any case. So
// atOnce must not be set in a directory, not of ours, that has no snapshot:
// there the first entry is among those that are applied anew.
func (e *election) wait() error {
	id := uint64(e.server.MemberID())
	takeOver := &raftpb.Message{Type: raftpb.MsgTimeoutNow.Enum(), From: &id, To: &id}
	retry := time.NewTicker(electionRetry)
	defer retry.Stop()
	for {
		if e.atOnce { // in vain until the member has learnt from its log that it is one
			e.server.Process(context.Background(), takeOver)
		}
		select {
		case <-e.server.ReadyNotify():
			return nil
		case <-e.state.failed:
			return errors.Unwrap(e.state.failure())
		case <-retry.C:
			if e.logIsShort() {
				return fmt.Errorf("raft's log ends before entry %d, which the database has", e.applied)
			}
		}
	}
}

// logIsShort tells that the end of the log is missing: an entry of the new
// term has an index that the database knows from an older term. etcd would
// take it for applied, as all that follow, and never be ready.
func (e *election) logIsShort() bool {
	return e.server.Term() > e.appliedTerm && e.server.AppliedIndex() <= e.applied
}
