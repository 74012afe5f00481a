package apiserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubesim/kubesim/apiserver"
	"github.com/kubesim/kubesim/store/memory"
)

// pipes is a listener whose connections are in memory: as many as wanted, and
// of use in a synctest bubble.
type pipes struct {
	accepted chan net.Conn
	closed   context.Context
	close    context.CancelFunc
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed.Done():
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.close()
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// dial opens a connection and sends the beginning of a request.
func (p *pipes) dial(t *testing.T, request string) net.Conn {
	client, server := net.Pipe()
	p.accepted <- server
	if _, err := io.WriteString(client, request); err != nil {
		t.Fatal(err)
	}
	return client
}

// do sends a request on a connection of its own.
func (p *pipes) do(t *testing.T, method, path, body string) *http.Response {
	t.Helper()
	conn := p.dial(t, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body))
	defer conn.Close()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp
}

// servePipes runs an API server on connections in memory until stop.
func servePipes(t *testing.T) (_ *pipes, stop func()) {
	t.Helper()
	keys := memory.New()
	s, err := apiserver.New(t.Context(), apiserver.Config{Store: keys, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	p := &pipes{accepted: make(chan net.Conn)}
	p.closed, p.close = context.WithCancel(context.Background())
	server := &http.Server{Handler: s.Handler()}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(p) })
	return p, func() {
		s.Close()
		_ = server.Close()
		serving.Wait()
		keys.Close()
	}
}

// Clients that send a body slower than a byte a minute don't take up all places
// for requests in flight.
func TestSlowBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, stop := servePipes(t)
		defer stop()
		for range 600 {
			conn := p.dial(t, "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
			go func() { _, _ = io.Copy(io.Discard, conn) }() // ends when the server hangs up
		}
		synctest.Wait()
		if resp := p.do(t, "GET", "/api/v1/namespaces/default", ""); resp.StatusCode != http.StatusTooManyRequests {
			t.Errorf("while all places are taken: %s", resp.Status)
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if resp := p.do(t, "GET", "/api/v1/namespaces/default", ""); resp.StatusCode != http.StatusOK {
			t.Errorf("a minute later: %s", resp.Status)
		}
	})
}

// A client that asks for a long list and does not read it is cut off.
func TestDeafLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, stop := servePipes(t)
		defer stop()
		payload := `{"metadata":{"generateName":"c-"},"data":{"k":"` + strings.Repeat("x", 100<<10) + `"}}`
		for range 5 {
			p.do(t, "POST", "/api/v1/namespaces/default/configmaps", payload)
		}
		for _, accept := range []string{"application/json", "application/yaml"} {
			began := time.Now()
			deaf := p.dial(t, "GET /api/v1/configmaps HTTP/1.1\r\nHost: localhost\r\nAccept: "+accept+"\r\n\r\n")
			time.Sleep(2 * time.Minute)
			if got, err := io.ReadAll(deaf); err != nil || len(got) > 100<<10 {
				t.Errorf("%s after %s: read %d bytes, %v", accept, time.Since(began), len(got), err)
			}
		}
	})
}

// Many watches are open at once: each sees what happens, other requests are
// answered, and a watch takes some tens of kilobytes.
func TestManyWatches(t *testing.T) {
	const perWatch = 64 << 10
	watches := 10000
	if raceEnabled {
		watches = 1000 // the detector bears some 8000 goroutines
	}
	p, stop := servePipes(t)
	defer stop()
	memoryInUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := memoryInUse()
	var open, seen sync.WaitGroup
	for range watches {
		open.Add(1)
		seen.Add(1)
		conn := p.dial(t, "GET /api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0&fieldSelector=metadata.name!=kube-root-ca.crt HTTP/1.1\r\nHost: localhost\r\n\r\n")
		defer conn.Close()
		go func() {
			defer seen.Done()
			lines := bufio.NewReaderSize(conn, 512)
			if header, err := lines.ReadString('\n'); err != nil || !strings.Contains(header, "200 OK") {
				t.Errorf("a watch was answered with %q, %v", header, err)
			}
			open.Done()
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Errorf("a watch ended before it saw the event: %v", err)
					return
				}
				if strings.Contains(line, `"ADDED"`) {
					return
				}
			}
		}()
	}
	open.Wait()
	if each := (memoryInUse() - before) / uint64(watches); each > perWatch {
		t.Errorf("a watch takes %d bytes", each)
	} else {
		t.Logf("a watch takes %d bytes, with its client", each)
	}
	if resp := p.do(t, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`); resp.StatusCode != http.StatusCreated {
		t.Errorf("create beside the watches: %s", resp.Status)
	}
	seen.Wait()
	if resp := p.do(t, "GET", "/api/v1/configmaps", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("list beside the watches: %s", resp.Status)
	}
}
