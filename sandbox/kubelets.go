package sandbox

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// pipes connect inside this process: the API server calls the kubelets through
// them, without a socket.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// dial returns what connects to the kubelets, nil if none are played in this process.
func (p *pipes) dial(none bool) func(ctx context.Context, node string) (net.Conn, error) {
	if none {
		return nil
	}
	return func(ctx context.Context, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		select {
		case p.conns <- pipe{far}:
			return near, nil
		case <-p.closed:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// pipe ends as a connection that was closed in good order, on either side, which
// libraries have nothing to report about.
type pipe struct{ net.Conn }

// Read implements net.Conn.
func (p pipe) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if errors.Is(err, io.ErrClosedPipe) {
		err = io.EOF
	}
	return n, err
}

// listener is one of the processes that answer, one after the other.
type listener struct {
	*pipes
	own *pipes // closed with it
}

func (p *pipes) listener() net.Listener { return listener{pipes: p, own: newPipes()} }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.own.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l listener) Close() error { return l.own.Close() }

// Close ends all that is still being connected.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "kubelets", Net: "pipe"} }
