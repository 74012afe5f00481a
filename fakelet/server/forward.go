package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	constants "k8s.io/apimachinery/pkg/util/portforward"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// portForward takes connections for ports of a pod, two streams each: one for the
// data and one for an error. They come over SPDY, which may come inside a WebSocket.
func (s *Server) portForward(w http.ResponseWriter, r *http.Request, pod *corev1.Pod) {
	f := &forwarding{server: s, pod: pod, half: map[string]httpstream.Stream{}}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	f.ctx = ctx
	conn := f.accept(w, r)
	if conn == nil {
		return
	}
	defer conn.Close()
	conn.SetIdleTimeout(4 * time.Hour)
	select {
	case <-conn.CloseChan():
	case <-ctx.Done():
	}
}

// accept makes the connection that carries the streams, nil if that fails.
func (f *forwarding) accept(w http.ResponseWriter, r *http.Request) httpstream.Connection {
	if !wsstream.IsWebSocketRequest(r) {
		if _, err := httpstream.Handshake(r, w, []string{constants.PortForwardV1Name}); err != nil {
			return nil
		}
		return spdy.NewResponseUpgrader().UpgradeResponse(w, r, f.stream)
	}
	upgrader := websocket.Upgrader{
		Subprotocols: []string{constants.WebsocketsSPDYTunnelingPortForwardV1},
		CheckOrigin:  func(*http.Request) bool { return true }, // the API server has looked at it
	}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil
	}
	if ws.Subprotocol() == "" {
		_ = ws.Close()
		return nil
	}
	conn, err := spdy.NewServerConnection(portforward.NewTunnelingConnection("kubelet", ws), f.stream)
	if err != nil {
		_ = ws.Close()
		return nil
	}
	return conn
}

// forwarding is one client's port-forward.
type forwarding struct {
	server *Server
	pod    *corev1.Pod
	ctx    context.Context //nolint:containedctx // of the request; streams come by a callback without one

	mu   sync.Mutex
	half map[string]httpstream.Stream // the first stream of a pair, by request
}

// stream joins the two streams of a connection.
func (f *forwarding) stream(stream httpstream.Stream, sent <-chan struct{}) error {
	headers := stream.Headers()
	port, err := strconv.Atoi(headers.Get(corev1.PortHeader))
	if err != nil || port < 1 || port > 65535 {
		return fmt.Errorf("bad port %q", headers.Get(corev1.PortHeader))
	}
	id := headers.Get(corev1.PortForwardRequestIDHeader)
	f.mu.Lock()
	other := f.half[id]
	if other == nil {
		f.half[id] = stream
	} else {
		delete(f.half, id)
	}
	f.mu.Unlock()
	if other == nil {
		return nil
	}
	data, errs := stream, other
	if headers.Get(corev1.StreamType) == corev1.StreamTypeError {
		data, errs = other, stream
	}
	go func() {
		<-sent
		f.forward(data, errs, port)
	}()
	return nil
}

func (f *forwarding) forward(data, errs httpstream.Stream, port int) {
	defer data.Reset() //nolint:errcheck // it is over either way
	defer errs.Close()
	conn, err := f.server.nodes.Connect(f.ctx, f.pod, port)
	if err != nil {
		fmt.Fprintf(errs, "an error occurred forwarding %d -> %d: error forwarding port %d to pod %s, uid : failed to connect to localhost:%d inside namespace %q: %v",
			port, port, port, f.pod.UID, port, f.pod.Name, err)
		return
	}
	defer conn.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(conn, data)
	}()
	received := make(chan struct{})
	go func() {
		defer close(received)
		_, _ = io.Copy(data, conn)
		_ = data.Close()
	}()
	select {
	case <-received:
	case <-f.ctx.Done():
	case <-sent:
		// The client has sent all, and may still wait for an answer.
		select {
		case <-received:
		case <-time.After(10 * time.Second):
		case <-f.ctx.Done():
		}
	}
}
