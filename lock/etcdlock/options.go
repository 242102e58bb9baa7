package etcdlock

import (
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// DefaultFenceKey is where the base of all fencing tokens is.
const DefaultFenceKey = "lockscope:fence-base"

// settings are the options of this package.
type settings struct{ fenceKey string }

// WithFenceKey says where the base of the fencing tokens is, instead of [DefaultFenceKey]:
// where a role may write below one prefix only. Who shares locks has to share it.
func WithFenceKey(key string) lock.Option {
	return engine.DriverOption(func(s *settings) { s.fenceKey = key })
}

func (s *settings) validate() error {
	if s.fenceKey == "" {
		return fmt.Errorf("%w: WithFenceKey: it is empty", lock.ErrInvalidOption)
	}
	return nil
}
