package scanner_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
)

// unused is a client of a server that tests of bad input must not call.
func unused(t *testing.T, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func TestBadOptions(t *testing.T) {
	clients := []redis.UniversalClient{unused(t, "a:1"), unused(t, "b:1")}
	locker := locktest.NewFakes(t, 1)(t)
	for name, opt := range map[string]scanner.Option{
		"nil":            nil,
		"ttl limit":      scanner.WithTTLLimit(0),
		"hold limit":     scanner.WithHoldLimit(-time.Second),
		"term limit":     scanner.WithTermLimit(-time.Second),
		"interval":       scanner.WithInterval(0),
		"deadline":       scanner.WithDeadline(0),
		"pause":          scanner.WithPause(-1),
		"confirm after":  scanner.WithConfirmAfter(-1),
		"confirm late":   scanner.WithConfirmAfter(scanner.DefaultDeadline),
		"page size":      scanner.WithPageSize(0),
		"page size big":  scanner.WithPageSize(1_000_000),
		"max findings":   scanner.WithMaxFindings(0),
		"max watched":    scanner.WithMaxWatched(-1),
		"max values":     scanner.WithMaxValues(-2),
		"names":          scanner.WithNodeNames("one"),
		"empty name":     scanner.WithNodeNames("one", ""),
		"replicas":       scanner.WithReplicas(nil),
		"pattern":        scanner.WithPatterns(""),
		"no patterns":    scanner.WithPatterns(),
		"no checks":      scanner.WithChecks(),
		"unknown check":  scanner.WithChecks("leak"),
		"no resource":    scanner.WithLocker(locker, ""),
		"no locker":      scanner.WithLocker(nil, "scanner"),
		"nil notifier":   scanner.WithNotifier(nil),
		"too many names": scanner.WithNodeNames("a", "b", "c"),
	} {
		s, err := scanner.New(clients, opt)
		if !errors.Is(err, scanner.ErrInvalidOption) || s != nil {
			t.Errorf("%s: %v, want ErrInvalidOption", name, err)
		}
	}
}

func TestBadNodes(t *testing.T) {
	a, b := unused(t, "a:1"), unused(t, "b:1")
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"x": "a:1"}})
	defer ring.Close()
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"c:1"}})
	defer cluster.Close()
	otherDB := redis.NewClient(&redis.Options{Addr: "r:1", DB: 2})
	defer otherDB.Close()
	for name, c := range map[string]struct {
		clients []redis.UniversalClient
		opts    []scanner.Option
	}{
		"none":      {},
		"nil":       {clients: []redis.UniversalClient{a, nil}},
		"typed nil": {clients: []redis.UniversalClient{a, (*redis.Client)(nil)}},
		"ring":      {clients: []redis.UniversalClient{ring}},
		"twice":     {clients: []redis.UniversalClient{a, b, a}},
		"same name": {clients: []redis.UniversalClient{a, b},
			opts: []scanner.Option{scanner.WithNodeNames("n", "n")}},
		"same server": {clients: []redis.UniversalClient{a, unused(t, "a:1")},
			opts: []scanner.Option{scanner.WithNodeNames("n", "m")}},
		"cluster's":      {clients: []redis.UniversalClient{cluster}, opts: []scanner.Option{scanner.WithReplicas(b)}},
		"replica's db":   {clients: []redis.UniversalClient{a}, opts: []scanner.Option{scanner.WithReplicas(otherDB)}},
		"replica's kind": {clients: []redis.UniversalClient{a}, opts: []scanner.Option{scanner.WithReplicas(cluster)}},
	} {
		s, err := scanner.New(c.clients, c.opts...)
		if !errors.Is(err, scanner.ErrInvalidNode) || s != nil {
			t.Errorf("%s: %v, want ErrInvalidNode", name, err)
		}
	}
	s, err := scanner.New([]redis.UniversalClient{a, b}, scanner.WithReplicas(nil, unused(t, "r:1")))
	must(t, err)
	must(t, s.Close())
}
