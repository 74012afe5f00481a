package etcd_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/store/etcd"
)

// A damaged directory is an error of Open, not the end of the process.
func TestDamagedDirectory(t *testing.T) {
	for _, test := range []struct {
		name, file string
		damage     func(content []byte) []byte
	}{
		{"garbage for database", "member/snap/db", func([]byte) []byte { return garbage(1 << 16) }},
		{"database cut off", "member/snap/db", func(c []byte) []byte { return c[:3*os.Getpagesize()] }},
		{"database pages overwritten", "member/snap/db", func(c []byte) []byte {
			return append(c[:2*os.Getpagesize()], garbage(len(c)-2*os.Getpagesize())...)
		}},
		{"log cut off", "member/wal/*.wal", func(c []byte) []byte { return c[:16<<10] }},
		{"log overwritten", "member/wal/*.wal", func(c []byte) []byte {
			copy(c[4096:], garbage(4096))
			return c
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := etcd.Config{DataDir: newDir(t)}
			fill(t, config)
			paths, err := filepath.Glob(filepath.Join(config.DataDir, test.file))
			if err != nil || len(paths) != 1 {
				t.Fatalf("files to damage: %v, %v", paths, err)
			}
			content, err := os.ReadFile(paths[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(paths[0], test.damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			wantOpenError(t, config, "restore it from a backup, or remove it to start empty")
		})
	}
}

func garbage(n int) []byte { return bytes.Repeat([]byte("garbage "), n/8) }

// fill makes a directory with a log and a database.
func fill(t *testing.T, config etcd.Config) {
	t.Helper()
	s := open(t, config)
	for i := range 100 {
		if _, err := s.Create(t.Context(), fmt.Sprint("/", i), make([]byte, 1024)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A full database still serves reads and deletes. Opening it makes room of what was deleted.
func TestQuota(t *testing.T) {
	config := etcd.Config{DataDir: newDir(t), NoFsync: true, QuotaBytes: 4 << 20}
	s := open(t, config)
	revisions := map[string]int64{}
	var full error
	for full == nil {
		key := fmt.Sprint("/", len(revisions))
		var revision int64
		if revision, full = s.Create(t.Context(), key, make([]byte, 100<<10)); full == nil {
			revisions[key] = revision
		}
	}
	if !strings.Contains(full.Error(), "larger quota") {
		t.Errorf("error of a full database is %v", full)
	}
	for key, revision := range revisions {
		if _, err := s.Delete(t.Context(), key, revision); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, config).Create(t.Context(), "/room", nil); err != nil {
		t.Errorf("create after deletes and reopening: %v", err)
	}
}
