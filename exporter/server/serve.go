package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v3"
)

// Bounds of the server: without them a client that says or reads nothing would
// keep a connection forever.
const (
	readHeaderTimeout = 5 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// Serve serves on the addresses of w until ctx ends. Then /readyz answers 503 for the drain delay, streams end,
// running requests are answered, and Serve returns nil. If requests take longer than the shutdown timeout, their
// connections are closed and Serve returns an error that matches context.DeadlineExceeded.
//
// Serve fails at once with ErrWebConfig, with ErrListen (naming the address) or, on a second call, with ErrServed.
func (s *Server) Serve(ctx context.Context, w Web) error {
	if !s.serving.CompareAndSwap(false, true) {
		return ErrServed
	}
	if err := w.check(); err != nil {
		return err
	}
	listeners, err := w.listen()
	if err != nil {
		return err
	}
	s.exporter.Listening()
	if w.Ready != nil {
		w.Ready(urlsOf(listeners, w.scheme()))
	}
	return s.serve(ctx, listeners, w.ConfigFile)
}

// serve runs one server per listener, because exporter-toolkit wraps a server's handler in each call.
func (s *Server) serve(ctx context.Context, listeners []net.Listener, configFile string) error {
	failed := make(chan error, len(listeners))
	servers := make([]*http.Server, len(listeners))
	var wg sync.WaitGroup
	for i, l := range listeners {
		server := s.newServer()
		servers[i] = server
		wg.Go(func() {
			flags := &web.FlagConfig{WebConfigFile: &configFile}
			if err := web.Serve(l, server, flags, s.cfg.logger); !errors.Is(err, http.ErrServerClosed) {
				_ = l.Close() // Serve of exporter-toolkit leaves it open if the file became bad meanwhile
				failed <- fmt.Errorf("server: serve on %s: %w", l.Addr(), err)
			}
		})
	}
	var err error
	select {
	case err = <-failed:
		s.exporter.Drain()
	case <-ctx.Done():
		s.drain()
	}
	err = errors.Join(err, s.shutdown(servers))
	wg.Wait()
	return err
}

// drain reports that the process is not ready before the listeners close.
func (s *Server) drain() {
	s.exporter.Drain()
	s.cfg.logger.Debug("exporter draining", "delay", s.cfg.drainDelay)
	if s.cfg.drainDelay > 0 {
		time.Sleep(s.cfg.drainDelay)
	}
}

// shutdown ends all servers at the same time.
func (s *Server) shutdown(servers []*http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.shutdownTimeout)
	defer cancel()
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		wg.Go(func() {
			if err := server.Shutdown(ctx); err != nil {
				errs[i] = errors.Join(
					fmt.Errorf("server: requests were cut off after the shutdown timeout of %v: %w",
						s.cfg.shutdownTimeout, err), server.Close())
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (s *Server) newServer() *http.Server {
	return &http.Server{
		Handler:           http.HandlerFunc(s.serveConn),
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.cfg.logger.Handler(), slog.LevelDebug),
	}
}

// serveConn bounds the writing of each answer by a deadline, which streams renew with every event. The server's
// WriteTimeout would end them.
func (s *Server) serveConn(w http.ResponseWriter, r *http.Request) {
	deadline := time.Now().Add(writeTimeout)
	_ = http.NewResponseController(w).SetWriteDeadline(deadline) // not supported: no bound
	s.exporter.ServeHTTP(w, r)
}

func urlsOf(listeners []net.Listener, scheme string) []string {
	urls := make([]string, len(listeners))
	for i, l := range listeners {
		urls[i] = urlOf(l, scheme)
	}
	return urls
}

// scheme is https if the checked web configuration configures TLS.
func (w *Web) scheme() string {
	if w.ConfigFile == "" {
		return "http"
	}
	text, err := os.ReadFile(w.ConfigFile)
	if err != nil {
		return "http"
	}
	var c web.Config
	if yaml.Unmarshal(text, &c) == nil && c.TLSConfig.IsEnabled() {
		return "https"
	}
	return "http"
}
