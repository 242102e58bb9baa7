package engine

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
)

func TestAcquireRefusesBadInputBeforeAnyNetworkCall(t *testing.T) {
	r, err := NewEngine([]driver.Node{untouchable{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for name, c := range map[string]struct {
		resource string
		opt      lock.AcquireOption
		want     error
	}{
		"empty":           {"", nil, lock.ErrInvalidResource},
		"too long":        {string(make([]byte, 513)), nil, lock.ErrInvalidResource},
		"braces":          {"a{b}", nil, lock.ErrInvalidResource},
		"newline":         {"a\nb", nil, lock.ErrInvalidResource},
		"a C1 control":    {"a\u009b2J", nil, lock.ErrInvalidResource},
		"right to left":   {"a\u202eb", nil, lock.ErrInvalidResource},
		"not UTF-8":       {"a\xff", nil, lock.ErrInvalidResource},
		"zero ttl":        {"a", lock.TTL(0), lock.ErrInvalidTTL},
		"negative ttl":    {"a", lock.TTL(-time.Second), lock.ErrInvalidTTL},
		"sub-ms ttl":      {"a", lock.TTL(999 * time.Microsecond), lock.ErrInvalidTTL},
		"ttl < 4 timeout": {"a", lock.TTL(4*MinNodeTimeout - 1), lock.ErrInvalidTTL},
		"ttl > max":       {"a", lock.TTL(lock.DefaultMaxTTL + 1), lock.ErrInvalidTTL},
		"huge ttl":        {"a", lock.TTL(math.MaxInt64), lock.ErrInvalidTTL},
		"max wait":        {"a", lock.MaxWait(-1), lock.ErrInvalidOption},
		"max attempts":    {"a", lock.MaxAttempts(-1), lock.ErrInvalidOption},
		"max hold":        {"a", lock.MaxHold(0), lock.ErrInvalidOption},
		"kind":            {"a", lock.OfKind("ballot"), lock.ErrInvalidOption},
		"reader":          {"a", lock.OfKind(lock.KindRead), lock.ErrInvalidOption},
		"writer":          {"a", lock.OfKind(lock.KindWrite), lock.ErrInvalidOption},
		"too many slots":  {"a", lock.Slots(101), lock.ErrInvalidOption},
		"long slot":       {strings.Repeat("a", lock.MaxResourceLength-1), lock.Slots(2), lock.ErrInvalidResource},
		"slot":            {"a#0", lock.OfKind(lock.KindSemaphore), lock.ErrInvalidOption},
		"mode":            {"a", lock.InMode(3), lock.ErrInvalidOption},
		"slots":           {"a", lock.Slots(-1), lock.ErrInvalidOption},
	} {
		t.Run(name, func(t *testing.T) {
			lease, err := r.Acquire(context.Background(), c.resource, c.opt)
			if lease != nil || !errors.Is(err, c.want) || lock.ReasonOf(err) != lock.ReasonInvalid {
				t.Errorf("got %v, %v (%s); want %v", lease, err, lock.ReasonOf(err), c.want)
			}
		})
	}
}

// TestHiddenCharactersInNames: prefixes, backends, nodes and pages are printed and are labels.
func TestHiddenCharactersInNames(t *testing.T) {
	for _, hidden := range []string{"a\u0085", "a\u009b2J", "\u202ea", "\xff", "a\nb"} {
		for name, opt := range map[string]lock.Option{
			"prefix": lock.WithPrefix(hidden), "backend": lock.WithBackend(hidden), "node": lock.WithNodeNames(hidden),
			"page": lock.WithPage("http://localhost/" + hidden),
		} {
			if _, err := NewEngine([]driver.Node{untouchable{}}, opt); !errors.Is(err, lock.ErrInvalidOption) {
				t.Errorf("%s %q: %v", name, hidden, err)
			}
		}
		e, err := NewEngine([]driver.Node{untouchable{}}, lock.WithInstance(hidden))
		if err != nil || records.ValidateReason(e.Instance()) != nil {
			t.Errorf("instance %q: %q, %v", hidden, e.Instance(), err)
		}
		_ = e.Close()
	}
}

// TestDefaultsMakeNoReaders: as an option of each Acquire, one of all of them makes no reader.
func TestDefaultsMakeNoReaders(t *testing.T) {
	for _, opt := range []lock.AcquireOption{lock.InMode(lock.ModeRead), lock.OfKind(lock.KindRead)} {
		_, err := NewEngine([]driver.Node{untouchable{}}, lock.WithDefaults(opt))
		if !errors.Is(err, lock.ErrInvalidOption) {
			t.Error(err)
		}
	}
}

// untouchable is a node on which any call but these panics.
type untouchable struct{ driver.Node }

func (untouchable) Name() string   { return "untouchable" }
func (untouchable) System() string { return "none" }
func (untouchable) Close() error   { return nil }

func (untouchable) Capabilities() driver.Capabilities { return driver.Capabilities{} }
