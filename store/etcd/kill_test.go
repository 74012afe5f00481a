package etcd_test

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"testing"

	"github.com/kubesim/kubesim/store/etcd"
)

// writerDir in the environment makes the test binary a process that writes to
// that directory until it is killed.
const writerDir = "KUBESIM_TEST_WRITER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDir); dir != "" {
		fmt.Fprintln(os.Stderr, writeForever(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForever creates keys and prints those whose creation returned.
func writeForever(dir string) error {
	s, err := etcd.Open(context.Background(), etcd.Config{DataDir: dir})
	for err == nil {
		var now, revision int64
		if now, err = s.Current(context.Background()); err != nil {
			break
		}
		key := fmt.Sprintf("/%09d", now)
		if revision, err = s.Create(context.Background(), key, []byte(key)); err == nil {
			fmt.Println(revision, key)
		}
	}
	return err
}

// Each round kills a process amid its writes; the next one and the check at
// the end go on with what it left behind.
func TestKill(t *testing.T) {
	const rounds, writes = 3, 150
	dir := newDir(t)
	acknowledged := map[string]int64{}
	var newest int64
	for range rounds {
		for revision, key := range killedWriter(t, dir, writes) {
			if revision <= newest {
				t.Errorf("revision %d was made after %d", revision, newest)
			}
			newest = revision
			acknowledged[key] = revision
		}
	}
	if len(acknowledged) < rounds*writes {
		t.Fatalf("only %d writes were acknowledged", len(acknowledged))
	}

	s := open(t, etcd.Config{DataDir: dir})
	if now, err := s.Current(t.Context()); err != nil || now < newest {
		t.Errorf("current revision is %d, %v, but %d was acknowledged", now, err, newest)
	}
	for key, revision := range acknowledged {
		kv, err := s.Get(t.Context(), key, 0)
		if err != nil || kv.Revision != revision || string(kv.Value) != key {
			t.Errorf("%s of revision %d was acknowledged and is %+v, %v", key, revision, kv, err)
		}
	}
}

// killedWriter yields what a writing process acknowledged. It is killed after
// so many writes.
func killedWriter(t *testing.T, dir string, writes int) iter.Seq2[int64, string] {
	return func(yield func(int64, string) bool) {
		writer := exec.Command(os.Args[0])
		writer.Env = append(os.Environ(), writerDir+"="+dir)
		writer.Stderr = os.Stderr
		out, err := writer.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		defer writer.Wait()
		defer writer.Process.Kill()
		lines := bufio.NewScanner(out)
		for n := 1; lines.Scan(); n++ { // also what is in the pipe after the kill
			var revision int64
			var key string
			if _, err := fmt.Sscan(lines.Text(), &revision, &key); err != nil {
				continue // cut off by the kill
			}
			if !yield(revision, key) {
				return
			}
			if n == writes {
				writer.Process.Kill()
			}
		}
	}
}
