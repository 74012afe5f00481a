package runtime

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

// ErrRefused is the error of a connection to a port that nobody listens on.
var ErrRefused = fmt.Errorf("connect: %w", syscall.ECONNREFUSED)

// containerNetwork is the cluster's network, with the container's own ports.
type containerNetwork struct {
	process.Network
	c *Container
}

// Listen implements process.Network.
func (n containerNetwork) Listen(port int) (net.Listener, error) {
	if port <= 0 || port > 65535 {
		return nil, errors.New("bad port")
	}
	c := n.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.listeners[port]; taken || c.spec.Listens(port) && len(c.spec.image.ports) > 0 || c.result != nil {
		return nil, syscall.EADDRINUSE
	}
	l := &listener{c: c, port: port, conns: make(chan net.Conn), closed: make(chan struct{})}
	c.listeners[port] = l
	return l, nil
}

// listener takes connections for a program of the container.
type listener struct {
	c      *Container
	port   int
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *listener) shut() { l.once.Do(func() { close(l.closed) }) }

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.shut()
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	if l.c.listeners[l.port] == l {
		delete(l.c.listeners, l.port)
	}
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return &net.TCPAddr{Port: l.port} }

// acceptTime is how long a connection waits for a program that listens.
const acceptTime = 5 * time.Second

// Listening tells whether a port is open.
func (c *Container) Listening(port int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.listeners[port]
	return c.result == nil && (ok || c.served(port))
}

// served is true for a port of the image's server, while it runs.
func (c *Container) served(port int) bool {
	if c.spec.Kind == Server {
		return c.spec.Listens(port)
	}
	if c.serving == 0 {
		return false
	}
	as := c.spec.Plan
	as.Kind = Server
	return as.Listens(port)
}

// Connect opens a connection to a port of the container.
func (c *Container) Connect(port int) (net.Conn, error) {
	c.mu.Lock()
	l, ok := c.listeners[port]
	served, ended := c.served(port), c.result != nil
	c.mu.Unlock()
	if ended || !ok && !served {
		return nil, ErrRefused
	}
	near, far := net.Pipe()
	if ok {
		timer := c.runtime.clock.NewTimer(acceptTime)
		defer timer.Stop()
		select {
		case l.conns <- far:
			return near, nil
		case <-l.closed:
		case <-timer.C():
		}
		return nil, ErrRefused
	}
	serve := c.spec.image.serve
	if serve == nil {
		serve = anything
	}
	go serve(c, far, port)
	return near, nil
}
