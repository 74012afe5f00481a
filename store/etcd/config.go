package etcd

import (
	"crypto/tls"
	"errors"
	"log/slog"
)

// defaultQuota is the largest database that etcd recommends.
const defaultQuota = 8 << 30

// Config says where the keys live: DataDir or Endpoints must be set.
type Config struct {
	// DataDir is the directory of the embedded server. It is created with
	// access for its owner only.
	DataDir string
	// ClientListen is a host:port where the embedded server takes etcd clients
	// such as etcdctl, without authentication. Empty: nowhere.
	ClientListen string
	// NoFsync trades durability for speed: a crash of the machine, though not
	// of the process alone, may lose acknowledged writes or the whole directory.
	NoFsync bool
	// QuotaBytes limits the size of the embedded database, 8 GiB if 0.
	QuotaBytes int64

	// Endpoints are the client URLs of an external cluster to use instead of
	// an embedded server.
	Endpoints []string
	// TLS is for the connections to Endpoints.
	TLS *tls.Config

	// Logger gets etcd's warnings and errors; slog.Default() if nil.
	Logger *slog.Logger
}

func (c *Config) validate() error {
	switch {
	case c.DataDir == "" && len(c.Endpoints) == 0:
		return errors.New("etcd store needs a data directory or endpoints")
	case c.DataDir != "" && len(c.Endpoints) > 0:
		return errors.New("etcd store takes either a data directory or endpoints, not both")
	case c.QuotaBytes < 0:
		return errors.New("etcd store's quota is negative")
	}
	if c.QuotaBytes == 0 {
		c.QuotaBytes = defaultQuota
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return nil
}
