package zkinspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// walkParallel bounds the concurrent requests.
const walkParallel = 8

// placeName is how zklock, zk.Lock and Curator's recipes name the places of a queue: with ten digits at the end.
var placeName = regexp.MustCompile(`(lock|latch|lease|__READ__|__WRIT__).*\d{10}$`)

// leakScan is one look below one path.
type leakScan struct {
	conn  *zk.Conn
	rules *inspect.Rules
	leaks *inspect.Look
	now   time.Time

	places  int
	denied  []string
	unknown []queue
}

type place struct {
	name string
	stat *zk.Stat
}

// queue is the places of a lock, the first one first.
type queue struct {
	dir    string
	stat   *zk.Stat
	places []place
}

// walk reads all nodes below a path.
func (s *leakScan) walk(ctx context.Context, root string) error {
	if _, err := s.conn.Sync(root); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return err // without a sync this server may lag behind
	}
	for unread := []string{root}; len(unread) > 0; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		dir := unread[len(unread)-1]
		unread = unread[:len(unread)-1]
		names, stat, err := s.conn.Children(dir)
		switch {
		case errors.Is(err, zk.ErrNoNode):
			continue
		case errors.Is(err, zk.ErrNoAuth):
			s.denied = append(s.denied, dir)
			continue
		case err != nil:
			return err
		}
		q := queue{dir: dir, stat: stat}
		for _, name := range names {
			switch {
			case strings.HasPrefix(name, ";"): // zklock's own
			case placeName.MatchString(name):
				q.places = append(q.places, place{name: name})
			default:
				unread = append(unread, path.Join(dir, name))
			}
		}
		if err := s.readPlaces(ctx, &q); err != nil {
			return err
		}
		s.judge(&q)
	}
	return nil
}

// readPlaces reads the places of a queue, and leaves out those that end meanwhile.
func (s *leakScan) readPlaces(ctx context.Context, q *queue) error {
	errs := make([]error, len(q.places))
	slots := make(chan struct{}, walkParallel)
	var asking sync.WaitGroup
	for i := range q.places {
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				var there bool
				if there, q.places[i].stat, errs[i] = s.conn.Exists(path.Join(q.dir, q.places[i].name)); !there {
					q.places[i].stat = nil
				}
			}
		})
	}
	asking.Wait()
	q.places = slices.DeleteFunc(q.places, func(p place) bool { return p.stat == nil })
	slices.SortFunc(q.places, func(a, b place) int { return cmp.Compare(digits(a.name), digits(b.name)) })
	s.places += len(q.places)
	return errors.Join(errs...)
}

func digits(name string) string { return name[len(name)-10:] }

// judge finds places that no session will end. A node with a TTL ends by itself.
func (s *leakScan) judge(q *queue) {
	for i, p := range q.places {
		container := uint64(p.stat.EphemeralOwner) == 1<<63
		if p.stat.EphemeralOwner != 0 && !container {
			continue
		}
		text := "; it holds the lock"
		if i > 0 {
			text = "; it waits behind " + inspect.Count(i, "other")
		}
		if behind := len(q.places) - i - 1; behind > 0 {
			text += "; behind it: " + inspect.Count(behind, "place")
		}
		age := s.now.Sub(time.UnixMilli(p.stat.Ctime))
		s.leaks.Add(s.rules, inspect.Leak{Class: inspect.NoTTL, Key: path.Join(q.dir, p.name), Type: "znode", TTL: -1,
			Identity: fmt.Sprint(p.stat.Czxid), Guard: guardOf(p.stat), Action: inspect.Delete},
			"it is persistent, so no session ends it: it stays until somebody deletes it; it was created %s ago%s",
			inspect.Whole(age), text)
	}
	if len(q.places) > 0 && q.places[0].stat.EphemeralOwner != 0 {
		s.unknown = append(s.unknown, *q)
	}
}

// judgeSessions judges locks whose holders do not record since when they hold them. A place is as old as its node says,
// but may have waited. If nothing has changed in the queue since it came, it never did.
func (s *leakScan) judgeSessions(root string, known map[string]bool) {
	limit, unknown := s.rules.HoldLimit(""), 0
	for _, q := range s.unknown {
		key, _ := url.PathUnescape(path.Base(q.dir))
		p := q.places[0]
		age := s.now.Sub(time.UnixMilli(p.stat.Ctime))
		if path.Dir(q.dir) == root && known[key] || limit <= 0 || age <= limit {
			continue
		}
		if q.stat.Pzxid != p.stat.Czxid {
			unknown++
			continue
		}
		name := fmt.Sprintf("session %#x", p.stat.EphemeralOwner)
		s.leaks.Add(s.rules, inspect.Leak{Class: inspect.HeldTooLong, Key: path.Join(q.dir, p.name), Type: "znode", TTL: -1,
			Hold: inspect.Hold{Holder: lock.Holder{Instance: name, Since: time.UnixMilli(p.stat.Ctime)},
				Format: inspect.FormatUnknown},
			Identity: fmt.Sprint(p.stat.Czxid), Unsafe: ephemeral},
			"its session has had it for %s, longer than the limit of %s", inspect.Whole(age), inspect.Whole(limit))
	}
	if unknown > 0 && s.rules.Wants(inspect.HeldTooLong) {
		s.leaks.Skip(inspect.ReasonUnwatched, "%s below %s: their places are older than the limit, but ZooKeeper does not "+
			"record how long they waited", inspect.Count(unknown, "lock"), root)
	}
}
