package zkinspect

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// recipe is how a library names the places of a queue.
type recipe struct {
	library    string
	name       *regexp.Regexp
	confidence inspect.Confidence
	evidence   string
}

const uuidForm = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

// recipes are tried in their order.
var recipes = []recipe{
	{"Curator mutex or election", regexp.MustCompile(`^_c_` + uuidForm + `-lock-\d{10}$`), inspect.High,
		"places named by Curator: _c_, a UUID, -lock-"},
	{"Curator read-write lock", regexp.MustCompile(`^_c_` + uuidForm + `-__(READ|WRIT)__\d{10}$`), inspect.High,
		"places named by Curator: _c_, a UUID, __READ__ or __WRIT__"},
	{"Curator semaphore", regexp.MustCompile(`^_c_` + uuidForm + `-lease-\d{10}$`), inspect.High,
		"places named by Curator: _c_, a UUID, -lease-"},
	{"Curator leader latch", regexp.MustCompile(`^_c_` + uuidForm + `-latch-\d{10}$`), inspect.High,
		"places named by Curator: _c_, a UUID, -latch-"},
	{"go-zookeeper zk.Lock", regexp.MustCompile(`^_c_[0-9a-f]{32}-lock-\d{10}$`), inspect.High,
		"places named by zk.Lock: _c_, 32 hexadecimal digits, -lock-"},
	{"kazoo", regexp.MustCompile(`^[0-9a-f]{32}__r?lock__\d{10}$`), inspect.High,
		"places named by kazoo: 32 hexadecimal digits, __lock__ or __rlock__"},
	{"a queue of places", placeName, inspect.Medium, "children named as a lock's, with ten digits"},
}

// ours is the recipe of zklock, below its root.
var ours = recipe{"lockscope", regexp.MustCompile(`^_c_[0-9a-f]{32}-(read-)?lock-\d{10}$`), inspect.High,
	"places named by zklock below its root"}

// Libraries implements inspect.Inspector. It reads names, and of places whether they are persistent. When ctx ends, it
// fails at once, as Leaks does.
func (b *Inspector) Libraries(ctx context.Context, sample int) (inspect.Libraries, error) {
	if err := b.connect(ctx); err != nil {
		return inspect.Libraries{}, err
	}
	l, err := store.InTime(ctx, func() (inspect.Libraries, error) {
		s := &discovery{conn: b.conn, root: b.root, sample: sample}
		s.layouts.Read.What, s.layouts.Whole = "nodes", true
		err := s.walk(ctx)
		if s.denied > 0 {
			s.layouts.Notes = append(s.layouts.Notes, fmt.Sprintf("%s may not be read: set LOCKSCOPE_ZOOKEEPER_AUTH to the "+
				"user:password of a user that may", inspect.Count(s.denied, "node")))
		}
		return s.layouts, err
	})
	return l, b.explain(err)
}

type discovery struct {
	conn    *zk.Conn
	root    string
	sample  int
	denied  int
	layouts inspect.Libraries
}

// walk reads names from the top, and leaves out those of ZooKeeper itself.
func (s *discovery) walk(ctx context.Context) error {
	for unread := []string{"/"}; len(unread) > 0; {
		if s.layouts.Read.N >= s.sample {
			s.layouts.Whole = false
			return nil
		}
		dir := unread[0]
		unread = unread[1:]
		names, _, err := s.conn.Children(dir)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, zk.ErrNoNode):
			continue
		case errors.Is(err, zk.ErrNoAuth):
			s.denied++
			continue
		case err != nil:
			return err
		}
		s.layouts.Read.N += len(names)
		for _, name := range names {
			r, place := s.recipeOf(dir, name)
			switch {
			case place:
				if err := s.take(dir, name, r); err != nil {
					return err
				}
			case dir != "/" || name != "zookeeper":
				unread = append(unread, path.Join(dir, name))
			}
		}
	}
	return nil
}

func (s *discovery) recipeOf(dir, name string) (recipe, bool) {
	if path.Dir(dir) == s.root && ours.name.MatchString(name) {
		return ours, true
	}
	for _, r := range recipes {
		if r.name.MatchString(name) {
			return r, true
		}
	}
	return recipe{}, strings.HasPrefix(name, ";") && path.Dir(dir) == s.root // zklock's own is no place
}

// take adds a place. A node that went away meanwhile is none.
func (s *discovery) take(dir, name string, r recipe) error {
	if r.library == "" {
		return nil
	}
	there, stat, err := s.conn.Exists(path.Join(dir, name))
	if err != nil || !there {
		return err
	}
	f := inspect.Library{Name: r.library, Pattern: path.Dir(dir), Keys: 1, Example: path.Join(dir, name),
		Evidence: r.evidence, Confidence: r.confidence}
	if stat.EphemeralOwner == 0 {
		f.NoTTL = 1
	}
	s.layouts.Add(f)
	return nil
}
