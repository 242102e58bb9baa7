package etcdlock

import (
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// DefaultFenceKey is the key of the base of all fencing tokens.
const DefaultFenceKey = "lockscope:fence-base"

// settings are the options of this package.
type settings struct{ fenceKey string }

// WithFenceKey sets the key of the base of the fencing tokens, instead of [DefaultFenceKey]. Use it if
// a role may write below one prefix only. Services that share locks must set the same key.
func WithFenceKey(key string) lock.Option {
	return engine.DriverOption(func(s *settings) { s.fenceKey = key })
}

func (s *settings) validate() error {
	if s.fenceKey == "" {
		return fmt.Errorf("%w: WithFenceKey: the key is empty: name one", lock.ErrInvalidOption)
	}
	return nil
}
