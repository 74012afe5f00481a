package etcd_test

import (
	"path/filepath"
	"testing"

	"github.com/kubesim/kubesim/store"
	"github.com/kubesim/kubesim/store/etcd"
	"github.com/kubesim/kubesim/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, etcd.Config{DataDir: newDir(t), NoFsync: true})
	})
}

// newDir names a directory that is not there yet.
func newDir(t testing.TB) string { return filepath.Join(t.TempDir(), "etcd") }

func open(t testing.TB, config etcd.Config) *etcd.Store {
	t.Helper()
	s, err := etcd.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
