package etcd_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubesim/kubesim/store"
	"github.com/kubesim/kubesim/store/etcd"
	"github.com/kubesim/kubesim/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, etcd.Config{DataDir: newDir(t), NoFsync: true})
	})
}

func TestConformanceExternal(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		address := freeAddress(t)
		open(t, etcd.Config{DataDir: newDir(t), NoFsync: true, ClientListen: address})
		return open(t, etcd.Config{Endpoints: []string{address}})
	})
}

// What an etcd client writes through the port is part of the log as well.
func TestClientListen(t *testing.T) {
	address := freeAddress(t)
	s := open(t, etcd.Config{DataDir: newDir(t), NoFsync: true, ClientListen: address})
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	put, err := client.Put(t.Context(), "/a", "1")
	if err != nil {
		t.Fatal(err)
	}
	if now, err := s.Current(t.Context()); err != nil || now != put.Header.Revision {
		t.Errorf("current revision is %d, %v, want the client's %d", now, err, put.Header.Revision)
	}
	if kv, err := s.Get(t.Context(), "/a", 0); err != nil || string(kv.Value) != "1" {
		t.Errorf("get: %s, %v, want the client's value", kv.Value, err)
	}
}

func TestReopen(t *testing.T) {
	config := etcd.Config{DataDir: newDir(t)}
	s := open(t, config)
	first, err := s.Create(t.Context(), "/a", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	last, err := s.Update(t.Context(), "/a", []byte("2"), first)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = open(t, config)
	if now, err := s.Current(t.Context()); err != nil || now != last {
		t.Errorf("current revision is %d, %v, want %d", now, err, last)
	}
	for revision, want := range map[int64]string{first: "1", last: "2", 0: "2"} {
		if kv, err := s.Get(t.Context(), "/a", revision); err != nil || string(kv.Value) != want {
			t.Errorf("get at %d: %s, %v, want %s", revision, kv.Value, err, want)
		}
	}
	if next, err := s.Create(t.Context(), "/b", nil); err != nil || next != last+1 {
		t.Errorf("next revision is %d, %v, want %d", next, err, last+1)
	}
}

func TestDirectoryInUse(t *testing.T) {
	config := etcd.Config{DataDir: newDir(t), NoFsync: true}
	open(t, config)
	wantOpenError(t, config, "is in use by another process")
}

// etcd leaves some files readable, so it is the directory that must not be.
func TestDirectoryIsPrivate(t *testing.T) {
	dir := newDir(t)
	open(t, etcd.Config{DataDir: dir, NoFsync: true})
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("data directory has mode %v", info.Mode())
	}
}

func TestConfigErrors(t *testing.T) {
	for _, test := range []struct {
		config etcd.Config
		want   string
	}{
		{etcd.Config{}, "needs a data directory or endpoints"},
		{etcd.Config{DataDir: "d", Endpoints: []string{"e"}}, "not both"},
		{etcd.Config{DataDir: "d", QuotaBytes: -1}, "quota is negative"},
		{etcd.Config{DataDir: newDir(t), ClientListen: "nonsense"}, "etcd client address"},
		{etcd.Config{DataDir: newDir(t), ClientListen: "192.0.2.1:1"}, "can't listen for etcd clients"},
	} {
		wantOpenError(t, test.config, test.want)
	}
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

func wantOpenError(t *testing.T, config etcd.Config, want string) {
	t.Helper()
	s, err := etcd.Open(t.Context(), config)
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("open: got error %v, want one with %q", err, want)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return fmt.Sprint(listener.Addr())
}
