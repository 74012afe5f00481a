//go:build unix

package etcd_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.uber.org/zap"

	"github.com/kubesim/kubesim/store/etcd"
)

// clients is how many goroutines write at once.
const clients = 16

// BenchmarkCreate creates 1 KiB values with fsync on: in a store that one
// watch follows, and as transactions of etcd's own client in its own embedded
// server without a watch. The CPU time of the whole process is the steady figure.
func BenchmarkCreate(b *testing.B) {
	value := bytes.Repeat([]byte("x"), 1024)
	b.Run("store", func(b *testing.B) {
		s := open(b, etcd.Config{DataDir: newDir(b)})
		start, _ := s.Current(b.Context())
		go func() {
			for range s.Watch(b.Context(), "/", start).Events() {
			}
		}()
		measure(b, func(ctx context.Context, key string) error {
			_, err := s.Create(ctx, key, value)
			return err
		})
	})
	b.Run("raw", func(b *testing.B) {
		client := v3client.New(rawServer(b).Server)
		measure(b, func(ctx context.Context, key string) error {
			absent := clientv3.Compare(clientv3.ModRevision(key), "=", 0)
			_, err := client.Txn(ctx).If(absent).Then(clientv3.OpPut(key, string(value))).Commit()
			return err
		})
	})
}

func BenchmarkGet(b *testing.B) {
	s := open(b, etcd.Config{DataDir: newDir(b)})
	if _, err := s.Create(b.Context(), "/a", make([]byte, 1024)); err != nil {
		b.Fatal(err)
	}
	measure(b, func(ctx context.Context, _ string) error {
		_, err := s.Get(ctx, "/a", 0)
		return err
	})
}

func BenchmarkOpen(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			open(b, etcd.Config{DataDir: newDir(b)}).Close()
		}
	})
	b.Run("existing", func(b *testing.B) {
		config := etcd.Config{DataDir: newDir(b)}
		for b.Loop() {
			open(b, config).Close()
		}
	})
}

func measure(b *testing.B, op func(ctx context.Context, key string) error) {
	var n atomic.Int64
	b.SetParallelism(clients)
	cpu := processCPU()
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if err := op(b.Context(), fmt.Sprintf("/registry/configmaps/default/%d", n.Add(1))); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64((processCPU()-cpu).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func processCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func rawServer(b *testing.B) *embed.Etcd {
	config := embed.NewConfig()
	config.Dir = newDir(b)
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	local := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenPeerUrls, config.ListenClientUrls = local, local
	server, err := embed.StartEtcd(config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Close)
	<-server.Server.ReadyNotify()
	return server
}
