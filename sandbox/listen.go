package sandbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

const (
	// componentGrace is how long components may take to end by themselves.
	componentGrace = 600 * time.Millisecond
	// connectionGrace is how long open requests may take to end after that.
	connectionGrace = 400 * time.Millisecond
	// headerTimeout is how long a client may take to send a request's header, and
	// idleTimeout how long it may keep a connection without a request.
	headerTimeout = 10 * time.Second
	idleTimeout   = 3 * time.Minute
)

// front is a listener with the server that takes requests on it.
type front struct {
	listener net.Listener
	tls      bool
	server   *http.Server // nil until serve
}

// listen takes the ports of both fronts; no address gives no front.
func (s *Sandbox) listen() error {
	if s.cfg.HTTP != "" {
		listener, err := listen("--http", s.cfg.HTTP)
		if err != nil {
			return err
		}
		s.fronts = append(s.fronts, &front{listener: listener})
	}
	if s.cfg.HTTPS != "" {
		listener, err := listen("--https", s.cfg.HTTPS)
		if errors.Is(err, syscall.EADDRINUSE) && s.cfg.HTTPSAnyPort {
			host, _, _ := net.SplitHostPort(s.cfg.HTTPS)
			listener, err = listen("--https", net.JoinHostPort(host, "0"))
		}
		if err != nil {
			return err
		}
		s.fronts = append(s.fronts, &front{listener: listener, tls: true})
	}
	return nil
}

func listen(flag, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		_, port, _ := net.SplitHostPort(address)
		return nil, fmt.Errorf("%s %s: port %s is in use, by another kubesim perhaps; choose another port, or 0 for a free one (%w)", flag, address, port, syscall.EADDRINUSE)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	return listener, nil
}

func (f *front) url() string {
	if f.tls {
		return "https://" + f.listener.Addr().String()
	}
	return "http://" + f.listener.Addr().String()
}

// serve takes requests on the listeners.
func (s *Sandbox) serve() {
	for _, f := range s.fronts {
		f.server = &http.Server{
			Handler:           s.server.Handler(),
			ReadHeaderTimeout: headerTimeout,
			IdleTimeout:       idleTimeout,
			ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug), // such as failed handshakes
		}
		serve := f.server.Serve
		if f.tls {
			f.server.TLSConfig = &tls.Config{
				Certificates: []tls.Certificate{s.keys.Server.TLS()},
				ClientAuth:   tls.RequestClientCert, // the API server verifies it
				MinVersion:   tls.VersionTLS12,
			}
			serve = func(l net.Listener) error { return f.server.ServeTLS(l, "", "") }
		}
		s.serving.Go(func() {
			if err := serve(f.listener); !errors.Is(err, http.ErrServerClosed) {
				s.fail(fmt.Errorf("serving %s: %w", f.url(), err))
			}
		})
	}
}

// closeFronts lets open requests end for a moment, then cuts them off.
func (s *Sandbox) closeFronts() error {
	ctx, cancel := context.WithTimeout(context.Background(), connectionGrace)
	defer cancel()
	errs := make([]error, len(s.fronts))
	var closing sync.WaitGroup
	for i, f := range s.fronts {
		closing.Go(func() { errs[i] = f.close(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}

func (f *front) close(ctx context.Context) error {
	if f.server == nil {
		return f.listener.Close()
	}
	if err := f.server.Shutdown(ctx); err != nil {
		return f.server.Close()
	}
	return nil
}
