package top

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

var errBadPage = errors.New("--page: not the address of a live page: use http://host:port/debug/locks")

// Redis is one set of Redis nodes to read.
type Redis struct {
	Name  string
	Nodes []servers.Node // Close closes them
	Globs []string       // of lock keys; at least one
}

// Other is one system beside Redis to read.
type Other struct {
	Name string
	inspect.Inspector
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
	if err := differ(&c); err != nil {
		return nil, err
	}
	var systems []system
	for i := range c.Redis {
		set, err := newRedisSet(&c.Redis[i], c.Timeout)
		if err != nil {
			for _, made := range systems {
				made.close()
			}
			return nil, err
		}
		systems = append(systems, set)
	}
	for _, o := range c.Others {
		systems = append(systems, &otherSet{called: o.Name, inspector: o.Inspector})
	}
	return newSource(systems, p), nil
}

// differ refuses two sets of one name.
func differ(c *Config) error {
	var names []string
	for i := range c.Redis {
		names = append(names, c.Redis[i].Name)
	}
	for _, o := range c.Others {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	for i, name := range names[min(1, len(names)):] {
		if name == names[i] {
			return fmt.Errorf("two sets of nodes have the name %q: give each group a name of its own", name)
		}
	}
	return nil
}
