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

// option is an Option of this package.
type option struct {
	lock.DriverOption
	set func(*settings)
}

// settingsOf applies the options of this package among those of base to defaults.
func settingsOf(base *engine.Settings, defaults settings) (settings, error) {
	err := base.ForDriver(func(o lock.Option) bool {
		own, ok := o.(option)
		if ok {
			own.set(&defaults)
		}
		return ok
	})
	return defaults, err
}

// WithFenceKey sets the key of the base of the fencing tokens, instead of [DefaultFenceKey]. Use it if
// a role may write below one prefix only. Services that share locks must set the same key.
func WithFenceKey(key string) lock.Option {
	return option{set: func(s *settings) { s.fenceKey = key }}
}

func (s *settings) validate() error {
	if s.fenceKey == "" {
		return fmt.Errorf("%w: WithFenceKey: the key is empty: name one", lock.ErrInvalidOption)
	}
	return nil
}
