package server

import (
	"errors"
	"sync/atomic"

	"github.com/lockscope/lockscope/exporter"
)

// Errors of Serve, met before anything is served.
var (
	// ErrListen reports an address that cannot be bound.
	ErrListen = errors.New("server: cannot listen")
	// ErrWebConfig reports an unusable web configuration file.
	ErrWebConfig = errors.New("server: web configuration")
	// ErrServed reports a second call of Serve.
	ErrServed = errors.New("server: Serve was already called")
)

// Server serves an Exporter once. Its zero value is not usable: see New. It is safe for concurrent use.
type Server struct {
	exporter *exporter.Exporter
	cfg      config
	serving  atomic.Bool // Serve was called
}

// New makes a Server of e, which should have no other. It returns ErrInvalidOption for a nil e, a nil option and an
// unusable value. It starts nothing.
func New(e *exporter.Exporter, opts ...Option) (*Server, error) {
	cfg, err := newConfig(e, opts)
	if err != nil {
		return nil, err
	}
	return &Server{exporter: e, cfg: cfg}, nil
}
