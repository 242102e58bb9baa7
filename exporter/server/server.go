package server

import (
	"errors"
	"sync/atomic"

	"github.com/lockscope/lockscope/exporter"
)

// Errors of Serve, met before anything is served.
var (
	// ErrListen says that an address cannot be listened on.
	ErrListen = errors.New("server: cannot listen")
	// ErrWebConfig says that the web configuration file is not usable.
	ErrWebConfig = errors.New("server: web configuration")
	// ErrServed says that Serve was called before: a Server serves once.
	ErrServed = errors.New("server: Serve was already called")
)

// Server serves an Exporter. Its zero value is not usable: see New. It is safe for
// concurrent use.
type Server struct {
	exporter *exporter.Exporter
	cfg      config
	serving  atomic.Bool // Serve was called
}

// New makes a Server of e, which should have no other. It fails with
// ErrInvalidOption for a nil e, a nil option or a value that is not usable. It
// starts nothing.
func New(e *exporter.Exporter, opts ...Option) (*Server, error) {
	cfg, err := newConfig(e, opts)
	if err != nil {
		return nil, err
	}
	return &Server{exporter: e, cfg: cfg}, nil
}
