package lock

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestNewRefusesBadInputBeforeAnyNetworkCall(t *testing.T) {
	dialled := errors.New("a connection was attempted")
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer func() { _ = client.Close() }()
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}})
	defer func() { _ = ring.Close() }()
	for name, c := range map[string]struct {
		nodes []redis.UniversalClient
		opts  []Option
		want  error
	}{
		"no client":            {nil, nil, ErrInvalidNode},
		"nil client":           {[]redis.UniversalClient{client, nil}, nil, ErrInvalidNode},
		"typed nil client":     {[]redis.UniversalClient{(*redis.Client)(nil)}, nil, ErrInvalidNode},
		"typed nil cluster":    {[]redis.UniversalClient{(*redis.ClusterClient)(nil)}, nil, ErrInvalidNode},
		"same client twice":    {[]redis.UniversalClient{client, client}, nil, ErrDuplicateNode},
		"ring":                 {[]redis.UniversalClient{ring}, nil, ErrInvalidNode},
		"nil option":           {[]redis.UniversalClient{client}, []Option{nil}, ErrInvalidOption},
		"empty prefix":         {[]redis.UniversalClient{client}, []Option{WithPrefix("")}, ErrInvalidOption},
		"braces in prefix":     {[]redis.UniversalClient{client}, []Option{WithPrefix("{x}:")}, ErrInvalidOption},
		"empty instance":       {[]redis.UniversalClient{client}, []Option{WithInstance("")}, ErrInvalidOption},
		"node timeout":         {[]redis.UniversalClient{client}, []Option{WithNodeTimeout(time.Microsecond)}, ErrInvalidOption},
		"poll interval":        {[]redis.UniversalClient{client}, []Option{WithPollInterval(0)}, ErrInvalidOption},
		"max ttl too short":    {[]redis.UniversalClient{client}, []Option{WithMaxTTL(time.Millisecond)}, ErrInvalidOption},
		"max ttl too long":     {[]redis.UniversalClient{client}, []Option{WithMaxTTL(math.MaxInt64)}, ErrInvalidOption},
		"node names mismatch":  {[]redis.UniversalClient{client}, []Option{WithNodeNames("a", "b")}, ErrInvalidOption},
		"node timeout too big": {[]redis.UniversalClient{client}, []Option{WithNodeTimeout(time.Hour)}, ErrInvalidOption},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := New(c.nodes, c.opts...)
			if err == nil {
				_ = r.Close()
			}
			if !errors.Is(err, c.want) || errors.Is(err, dialled) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if Reason(err) != ReasonInvalid {
				t.Errorf("Reason(%v) = %q", err, Reason(err))
			}
		})
	}
}

func TestAcquireRefusesBadInputBeforeAnyNetworkCall(t *testing.T) {
	r, err := NewFromNodes([]Node{untouchable{}})
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
		"ttl < 4 timeout": {"a", TTL(4*DefaultNodeTimeout - 1), ErrInvalidTTL},
		"ttl > max":       {"a", TTL(DefaultMaxTTL + 1), ErrInvalidTTL},
		"huge ttl":        {"a", TTL(math.MaxInt64), ErrInvalidTTL},
		"max wait":        {"a", MaxWait(-1), ErrInvalidOption},
		"max attempts":    {"a", MaxAttempts(-1), ErrInvalidOption},
		"max hold":        {"a", MaxHold(0), ErrInvalidOption},
	} {
		t.Run(name, func(t *testing.T) {
			lease, err := r.Acquire(context.Background(), c.resource, c.opt)
			if lease != nil || !errors.Is(err, c.want) || Reason(err) != ReasonInvalid {
				t.Errorf("got %v, %v (%s); want %v", lease, err, Reason(err), c.want)
			}
		})
	}
}

// untouchable is a node that must not be called; any call but these panics.
type untouchable struct{ Node }

func (untouchable) Name() string { return "untouchable" }
func (untouchable) Close() error { return nil }
