package lock

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

func TestAcquireRefusesBadInputBeforeAnyNetworkCall(t *testing.T) {
	r, err := NewEngine([]driver.Node{untouchable{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for name, c := range map[string]struct {
		resource string
		opt      AcquireOption
		want     error
	}{
		"empty":           {"", nil, ErrInvalidResource},
		"too long":        {string(make([]byte, 513)), nil, ErrInvalidResource},
		"braces":          {"a{b}", nil, ErrInvalidResource},
		"newline":         {"a\nb", nil, ErrInvalidResource},
		"zero ttl":        {"a", TTL(0), ErrInvalidTTL},
		"negative ttl":    {"a", TTL(-time.Second), ErrInvalidTTL},
		"sub-ms ttl":      {"a", TTL(999 * time.Microsecond), ErrInvalidTTL},
		"ttl < 4 timeout": {"a", TTL(4*MinNodeTimeout - 1), ErrInvalidTTL},
		"ttl > max":       {"a", TTL(DefaultMaxTTL + 1), ErrInvalidTTL},
		"huge ttl":        {"a", TTL(math.MaxInt64), ErrInvalidTTL},
		"max wait":        {"a", MaxWait(-1), ErrInvalidOption},
		"max attempts":    {"a", MaxAttempts(-1), ErrInvalidOption},
		"max hold":        {"a", MaxHold(0), ErrInvalidOption},
	} {
		t.Run(name, func(t *testing.T) {
			lease, err := r.Acquire(context.Background(), c.resource, c.opt)
			if lease != nil || !errors.Is(err, c.want) || ReasonOf(err) != ReasonInvalid {
				t.Errorf("got %v, %v (%s); want %v", lease, err, ReasonOf(err), c.want)
			}
		})
	}
}

// untouchable is a node that must not be called; any call but these panics.
type untouchable struct{ driver.Node }

func (untouchable) Name() string   { return "untouchable" }
func (untouchable) System() string { return "none" }
func (untouchable) Close() error   { return nil }
