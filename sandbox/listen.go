package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"
)

const (
	// componentGrace is how long components may take to end by themselves.
	componentGrace = time.Second
	// connectionGrace is how long open requests may take to end after that.
	connectionGrace = 500 * time.Millisecond
	// headerTimeout is how long a client may take to send a request's header, and
	// idleTimeout how long it may keep a connection without a request.
	headerTimeout = 10 * time.Second
	idleTimeout   = 3 * time.Minute
)

// listen takes the port; no address gives no listener.
func listen(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		_, port, _ := net.SplitHostPort(address)
		return nil, fmt.Errorf("--http %s: port %s is in use, by another kubesim perhaps; choose another port, or 0 for a free one", address, port)
	}
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w", address, err)
	}
	return listener, nil
}

// serve takes requests on the listener.
func (s *Sandbox) serve() {
	if s.listener == nil {
		return
	}
	if addr, ok := s.listener.Addr().(*net.TCPAddr); ok && !addr.IP.IsLoopback() {
		s.cfg.Logger.Warn("Everybody who can reach this address may do everything in the sandbox", "address", addr.String())
	}
	s.http = &http.Server{
		Handler:           s.server.Handler(),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
	}
	s.serving.Go(func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serving HTTP: %w", err))
		}
	})
}

// closeListener lets open requests end for a moment, then cuts them off.
func (s *Sandbox) closeListener() error {
	if s.http == nil {
		if s.listener != nil {
			return s.listener.Close()
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectionGrace)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		return s.http.Close()
	}
	return nil
}
