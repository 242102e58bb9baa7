package top

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
)

var errBadPage = errors.New("--page: not the address of a live page: use http://host:port/debug/locks")

// Redis is one set of Redis nodes to read.
type Redis struct {
	Name     string
	Nodes    []servers.Node // Close closes them
	Prefixes []string       // of lock keys; at least one
}

// Other is one system beside Redis to read.
type Other struct {
	Name string
	backend.Backend
}

// Config says what to read.
type Config struct {
	Redis   []Redis
	Others  []Other       // Close closes them
	Timeout time.Duration // of one question to a Redis node
	Pages   []string      // addresses to read
	Policy  fleet.Policy  // which of the addresses that holders and waiters name to read
}

// Open makes a Source and connects to nothing yet. The caller closes it. After an error the nodes are the caller's to
// close.
func Open(c Config) (*Source, error) {
	for _, page := range c.Pages {
		if !strings.HasSuffix(strings.TrimSuffix(page, "/"), "/debug/locks") {
			return nil, errBadPage
		}
	}
	p, err := newPages(c.Pages, c.Policy)
	if err != nil {
		return nil, err
	}
	var systems []system
	for _, r := range c.Redis {
		systems = append(systems, newRedisSet(r.Name, r.Nodes, r.Prefixes, c.Timeout))
	}
	for _, o := range c.Others {
		systems = append(systems, &otherSet{called: o.Name, backend: o.Backend})
	}
	named := make(map[string]bool)
	for _, s := range systems {
		if named[s.name()] {
			return nil, fmt.Errorf("two sets of nodes have the name %q: give each group a name of its own", s.name())
		}
		named[s.name()] = true
	}
	return newSource(systems, p), nil
}
