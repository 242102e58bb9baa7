package zkinspect

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// Leaks implements inspect.Inspector: persistent nodes that are named like a place in the queue of a lock, and locks
// held too long, below the root of zklock and the given paths. When ctx ends, it fails at once, while its requests end
// with their answers or with Close.
func (b *Inspector) Leaks(ctx context.Context, r *inspect.Rules) (inspect.Look, error) {
	if err := b.connect(ctx); err != nil {
		return inspect.Look{}, err
	}
	l, err := store.InTime(ctx, func() (l inspect.Look, err error) {
		err = b.findLeaks(ctx, r, &l)
		return l, err
	})
	return l, b.explain(err)
}

func (b *Inspector) findLeaks(ctx context.Context, r *inspect.Rules, l *inspect.Look) error {
	for _, root := range b.roots(r) {
		s := &leakScan{conn: b.conn, rules: r, leaks: l, now: time.Now()}
		if err := s.walk(ctx, root); err != nil {
			return fmt.Errorf("read nodes below %s: %w", root, err)
		}
		if len(s.denied) > 0 {
			l.Hide(s.hides)
			l.Gap(inspect.ReasonValuesUnread, "%s below %s may not be read: set LOCKSCOPE_ZOOKEEPER_AUTH to the "+
				"user:password of a user that may", inspect.Count(len(s.denied), "node"), inspect.KeyText(root))
		}
		asked := len(r.Prefixes) == 0 || slices.Contains(r.Prefixes, root)
		if s.places == 0 && len(s.denied) == 0 && asked && !r.AllowEmpty {
			l.Gap(inspect.ReasonNoMatch, "no lock is below %s: check --zookeeper-root and --prefix, or use --allow-empty",
				inspect.KeyText(root))
		}
		l.Count(s.places, "places in queues below "+inspect.KeyText(root))
		known, err := s.judgeHolders(ctx, root, root == b.root)
		if err != nil {
			return err
		}
		s.judgeSessions(root, known)
	}
	return nil
}

// hides says that a finding is in a node that may not be read.
func (s *leakScan) hides(f *inspect.Leak) bool {
	return slices.ContainsFunc(s.denied, func(dir string) bool {
		return strings.HasPrefix(f.Key, strings.TrimSuffix(dir, "/")+"/")
	})
}

// roots are that of zklock and the given ones, without those below another.
func (b *Inspector) roots(r *inspect.Rules) (roots []string) {
	all := append([]string{b.root}, r.Prefixes...)
	slices.Sort(all)
	for _, p := range all {
		below := func(root string) bool { return p == root || strings.HasPrefix(p, strings.TrimSuffix(root, "/")+"/") }
		if p = path.Clean(p); strings.HasPrefix(p, "/") && !slices.ContainsFunc(roots, below) {
			roots = append(roots, p)
		}
	}
	return roots
}

// judgeHolders judges locks of zklock, whose holders record since when they hold them. It returns their names.
func (s *leakScan) judgeHolders(ctx context.Context, root string, ours bool) (known map[string]bool, err error) {
	known = make(map[string]bool)
	if !ours || !s.rules.Wants(inspect.HeldTooLong) {
		return known, nil
	}
	held, err := zklock.ReadHeldLocks(ctx, s.conn, root)
	if errors.Is(err, zk.ErrNoAuth) {
		s.leaks.Hide(func(f *inspect.Leak) bool { return f.Place == root })
		return known, nil // counted already
	}
	for _, h := range held {
		if h.Holder == (lock.Holder{}) {
			continue
		}
		known[h.Key] = true
		if since, limit, tooLong := s.rules.TooLong(&h.Holder, s.now); tooLong {
			s.leaks.Add(s.rules, inspect.Leak{Class: inspect.HeldTooLong, Place: root, Key: h.Key, Type: h.Type, TTL: -1,
				Hold:     inspect.Hold{Holder: h.Holder, Format: inspect.FormatLockscope, Fence: h.Fence},
				Identity: fmt.Sprint(h.Fence, h.Holder.Since), Unsafe: ephemeral}, "one holder has had it for %s, longer than the limit of %s, and keeps its session alive",
				inspect.Whole(since), inspect.Whole(limit))
		}
	}
	return known, err
}
