package live

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/calls"
	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/exporter/live/internal/sessions"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/lock"
)

// Board records what its wrapped Lockers do. Its zero value is not usable: see New. It is safe for concurrent use,
// and needs no closing.
type Board struct {
	cfg config
	written
	past *sessions.History
}

// New makes an empty Board. It returns ErrInvalidOption for a nil option and an unusable value.
func New(opts ...Option) (*Board, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	register := calls.NewRegister(waits.New(cfg.window), timeline.NewSlowest(cfg.slowest), profile.New(cfg.profileRate),
		cfg.timelines)
	b := &Board{cfg: cfg, written: written{calls: register}, past: sessions.New(time.Now())}
	b.sampler = sessions.NewSampler(b.past.Until, b.sample, register.Busy)
	return b, nil
}

// Wrap returns a Locker that behaves as next does and records on b. Several Lockers may record on one Board. Wrap
// each Locker once.
//
// It returns ErrInvalidOption for a nil next, a nil option and an unusable value.
func (b *Board) Wrap(next lock.Locker, opts ...WrapOption) (lock.Locker, error) {
	if next == nil {
		return nil, fmt.Errorf("%w: the Locker to wrap is nil", ErrInvalidOption)
	}
	w := wrapping{instance: b.cfg.instance}
	for _, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("%w: nil WrapOption", ErrInvalidOption)
		}
		opt(&w)
	}
	if w.instance == "" {
		return nil, fmt.Errorf("%w: WithLockerInstance: must not be empty", ErrInvalidOption)
	}
	return newLocker(&b.written, next, storedName(w.instance)), nil
}
