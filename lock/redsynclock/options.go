package redsynclock

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// DefaultPollInterval is the longest time between two attempts of a waiter, about as in redsync.
// lock.WithPollInterval sets another.
const DefaultPollInterval = 200 * time.Millisecond

// longestTTL is the longest TTL that package lock accepts.
const longestTTL = 30 * 24 * time.Hour

// settings are the options of this package.
type settings struct{ mutex []redsync.Option }

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

// WithMutexOptions gives redsync's options to every mutex. These have an effect:
//
//   - WithExpiry is the default TTL of Acquire; redsync's own default is 8 s
//   - WithSetNXOnExtend counts a key that was lost and restored as a vote
//   - WithTimeoutFactor may shorten the time to wait for a server, beside lock.WithNodeTimeout
//   - WithDriftFactor may shorten the validity further, after engine.Drift
//   - WithFailFast and WithShufflePools matter for [Wrap] only, where redsync asks several pools
//
// The engine sets tries and pauses: use lock.MaxAttempts, lock.MaxWait and lock.WithPollInterval. It sets values, too,
// which begin with the token: WithValue and WithGenValueFunc are refused.
func WithMutexOptions(opts ...redsync.Option) lock.Option {
	return option{set: func(s *settings) { s.mutex = slices.Concat(s.mutex, opts) }}
}

// ignoredField is a field of a redsync.Mutex, and the option that sets it.
type ignoredField struct{ field, option string }

// engineIgnores returns the options that mutexes of the engine do not heed.
func engineIgnores() []ignoredField {
	return []ignoredField{{"value", "WithValue"}, {"genValueFunc", "WithGenValueFunc"}}
}

// mutexIgnores returns the options that a [Mutex] does not heed, and that change more than pauses.
func mutexIgnores() []ignoredField {
	return append(engineIgnores(), ignoredField{"setNXOnExtend", "WithSetNXOnExtend"},
		ignoredField{"failFast", "WithFailFast"}, ignoredField{"shuffle", "WithShufflePools"},
		ignoredField{"driftFactor", "WithDriftFactor"}, ignoredField{"timeoutFactor", "WithTimeoutFactor"})
}

// ignored fails if opts set one of these fields: their user would rely on what does not happen.
func ignored(opts []redsync.Option, fields func() []ignoredField) error {
	usual := reflect.ValueOf(redsync.New().NewMutex("")).Elem()
	given := reflect.ValueOf(redsync.New().NewMutex("", opts...)).Elem()
	var names []string
	for _, f := range fields() {
		if a, b := usual.FieldByName(f.field), given.FieldByName(f.field); fmt.Sprint(a) != fmt.Sprint(b) {
			names = append(names, f.option)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%w: redsync's %s has no effect here: remove it, or give it to redsynclock.WithMutexOptions, which "+
		"takes all but WithValue and WithGenValueFunc", lock.ErrInvalidOption, strings.Join(names, ", "))
}
