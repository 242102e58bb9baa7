package redlock

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// Clients of the program's own: the last one embeds a client where nobody else can reach it.
type (
	traced struct{ redis.UniversalClient }
	deeper struct{ *Traced }
	Traced struct{ redis.UniversalClient }
	named  struct{ *redis.Client }
	inner  interface{ redis.UniversalClient }
	hidden struct{ inner }
)

// TestClientsThatEmbedOne are taken for it. Others are named, with what to pass instead.
func TestClientsThatEmbedOne(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer func() { _ = client.Close() }()
	for _, given := range []redis.UniversalClient{traced{client}, &traced{client}, named{client}, &deeper{&Traced{client}}} {
		e, err := New([]redis.UniversalClient{given})
		if err != nil {
			t.Errorf("%T: %v", given, err)
			continue
		}
		if e.Close() != nil || e.Names[0] != "127.0.0.1:1" {
			t.Errorf("%T: node %q", given, e.Names[0])
		}
	}
	_, err := New([]redis.UniversalClient{hidden{client}})
	if !errors.Is(err, lock.ErrInvalidNode) ||
		!strings.Contains(err.Error(), "unsupported client type redlock.hidden: use a *redis.Client") ||
		!strings.Contains(err.Error(), "pass the wrapped client") || strings.Contains(err.Error(), "spreads") {
		t.Error(err)
	}
}

func TestNewRefusesBadInputBeforeAnyNetworkCall(t *testing.T) {
	dialled := errors.New("a connection was attempted")
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer func() { _ = client.Close() }()
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}})
	defer func() { _ = ring.Close() }()
	for name, c := range map[string]struct {
		nodes []redis.UniversalClient
		opts  []lock.Option
		want  error
	}{
		"no client":         {nil, nil, lock.ErrInvalidNode},
		"nil client":        {[]redis.UniversalClient{client, nil}, nil, lock.ErrInvalidNode},
		"typed nil client":  {[]redis.UniversalClient{(*redis.Client)(nil)}, nil, lock.ErrInvalidNode},
		"typed nil cluster": {[]redis.UniversalClient{(*redis.ClusterClient)(nil)}, nil, lock.ErrInvalidNode},
		"same client twice": {[]redis.UniversalClient{client, client}, nil, driver.ErrDuplicate},
		"ring":              {[]redis.UniversalClient{ring}, nil, lock.ErrInvalidNode},
		"nil option":        {[]redis.UniversalClient{client}, []lock.Option{nil}, lock.ErrInvalidOption},
		"empty prefix": {[]redis.UniversalClient{client}, []lock.Option{lock.WithPrefix("")},
			lock.ErrInvalidOption},
		"braces in prefix": {[]redis.UniversalClient{client}, []lock.Option{lock.WithPrefix("{x}:")},
			lock.ErrInvalidOption},
		"empty instance": {[]redis.UniversalClient{client}, []lock.Option{lock.WithInstance("")},
			lock.ErrInvalidOption},
		"node timeout": {[]redis.UniversalClient{client}, []lock.Option{lock.WithNodeTimeout(time.Microsecond)},
			lock.ErrInvalidOption},
		"poll interval": {[]redis.UniversalClient{client}, []lock.Option{lock.WithPollInterval(0)},
			lock.ErrInvalidOption},
		"max ttl too short": {[]redis.UniversalClient{client}, []lock.Option{lock.WithMaxTTL(time.Millisecond)},
			lock.ErrInvalidOption},
		"max ttl too long": {[]redis.UniversalClient{client}, []lock.Option{lock.WithMaxTTL(math.MaxInt64)},
			lock.ErrInvalidOption},
		"node names mismatch": {[]redis.UniversalClient{client}, []lock.Option{lock.WithNodeNames("a", "b")},
			lock.ErrInvalidOption},
		"negative quarantine": {[]redis.UniversalClient{client}, []lock.Option{WithRestartQuarantine(-1)},
			lock.ErrInvalidOption},
		"another driver's": {[]redis.UniversalClient{client}, []lock.Option{struct{ lock.DriverOption }{}},
			lock.ErrInvalidOption},
		"node timeout too big": {[]redis.UniversalClient{client}, []lock.Option{lock.WithNodeTimeout(time.Hour)},
			lock.ErrInvalidOption},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := New(c.nodes, c.opts...)
			if err == nil {
				_ = r.Close()
			}
			if !errors.Is(err, c.want) || errors.Is(err, dialled) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if lock.ReasonOf(err) != lock.ReasonInvalid {
				t.Errorf("ReasonOf(%v) = %q", err, lock.ReasonOf(err))
			}
		})
	}
}

// TestQuarantineOutlivesEveryLock that the node may have forgotten, by clocks that are 1 % apart.
func TestQuarantineOutlivesEveryLock(t *testing.T) {
	for _, maxTTL := range []time.Duration{time.Second, 10 * time.Second, time.Minute, time.Hour} {
		q := Quarantine(maxTTL)
		if least := maxTTL + maxTTL/100 + 2*time.Millisecond; q < least || q < 15*time.Second ||
			q > least+15*time.Second {
			t.Errorf("MaxTTL %v: a quarantine of %v", maxTTL, q)
		}
	}
	_, s, err := newSettings(3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := s.guard(guard.NewServers(), nil, 3); c.Quarantine < time.Minute || !c.Enforce {
		t.Errorf("by default a quarantine of %v, enforced: %v", c.Quarantine, c.Enforce)
	}
}
