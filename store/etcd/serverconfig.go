package etcd

import (
	"fmt"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/config"
	"go.etcd.io/etcd/server/v3/features"
	"go.uber.org/zap"
	"golang.org/x/crypto/bcrypt"

	"github.com/kubesim/kubesim/store"
)

const (
	memberName = "kubesim"
	// peerURL names the member to the peers that it has not got; nothing listens there.
	peerURL = "unix://kubesim"

	// Raft's clock, as etcd sets it. The first election does not wait for it: see election.
	tickMillis    = 100
	electionTicks = 10

	// snapshotCount is after how many writes etcd starts a new log, and so
	// how many it repeats at most when it starts; etcd's default is 10 000.
	snapshotCount = 2000
	// catchUpEntries is how much of its log etcd keeps in memory. It must
	// exceed what is repeated by far: see election.
	catchUpEntries = 5000

	// slowRequest is what etcd warns of. Its own 100 ms are for clusters.
	slowRequest = time.Second
)

// serverConfig is etcd's default configuration where it does not say why not.
func serverConfig(c Config, logger *zap.Logger) (config.ServerConfig, error) {
	peers := types.MustNewURLs([]string{peerURL})
	clients := peers // advertised, so it can't be empty
	if c.ClientListen != "" {
		var err error
		if clients, err = types.NewURLs([]string{"http://" + c.ClientListen}); err != nil {
			return config.ServerConfig{}, fmt.Errorf("etcd client address: %w", err)
		}
	}
	return config.ServerConfig{
		Name:                memberName,
		DataDir:             c.DataDir,
		PeerURLs:            peers,
		ClientURLs:          clients,
		InitialPeerURLsMap:  types.URLsMap{memberName: peers},
		InitialClusterToken: memberName,
		NewCluster:          true, // of no effect on a directory that has data

		TickMs:                     tickMillis,
		ElectionTicks:              electionTicks,
		InitialElectionTickAdvance: true,

		SnapshotCount:          snapshotCount,
		SnapshotCatchUpEntries: catchUpEntries,
		MaxSnapFiles:           2,
		MaxWALFiles:            2,

		BackendFreelistType:         bolt.FreelistMapType,
		QuotaBackendBytes:           c.QuotaBytes,
		MaxTxnOps:                   128,
		MaxRequestBytes:             store.MaxValueSize + requestOverhead,
		MaxConcurrentStreams:        math.MaxUint32,
		BcryptCost:                  uint(bcrypt.MinCost), // there are no users; 0 is warned of
		WarningApplyDuration:        slowRequest,
		WarningUnaryRequestDuration: slowRequest,
		StrictReconfigCheck:         true,
		UnsafeNoFsync:               c.NoFsync,
		Metrics:                     "basic",
		ServerFeatureGate:           features.NewDefaultServerFeatureGate(memberName, logger),
		Logger:                      logger,
	}, nil
}
