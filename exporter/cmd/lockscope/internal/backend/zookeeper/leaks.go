package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/scanner/report"
)

// Leaks implements backend.Backend: persistent nodes that are named like a place in the queue of a lock, and locks
// held too long, below the root of zklock and the given paths. When ctx ends, it fails at once, while its requests end
// with their answers or with Close.
func (b *Backend) Leaks(ctx context.Context, r *backend.LeakRules) (backend.Leaks, error) {
	if err := b.connect(ctx); err != nil {
		return backend.Leaks{}, err
	}
	found := make(chan *backend.Leaks, 1)
	err := inTime(ctx, func() error {
		l := &backend.Leaks{}
		defer func() { found <- l }()
		return b.findLeaks(ctx, r, l)
	})
	select {
	case l := <-found:
		return *l, b.explain(err)
	default: // the goroutine still has it
		return backend.Leaks{}, b.explain(err)
	}
}

func (b *Backend) findLeaks(ctx context.Context, r *backend.LeakRules, l *backend.Leaks) error {
	for _, root := range b.roots(r) {
		s := &leakScan{conn: b.conn, rules: r, leaks: l, now: time.Now()}
		if err := s.walk(ctx, root); err != nil {
			return fmt.Errorf("read nodes below %s: %w", root, err)
		}
		if len(s.denied) > 0 {
			l.Hide(s.hides)
			l.Gap(report.ReasonValuesUnread, "%s below %s may not be read: set LOCKSCOPE_ZOOKEEPER_AUTH to the "+
				"user:password of a user that may", ui.Count(len(s.denied), "node"), report.KeyText(root))
		}
		asked := len(r.Prefixes) == 0 || slices.Contains(r.Prefixes, root)
		if s.places == 0 && len(s.denied) == 0 && asked && !r.AllowEmpty {
			l.Gap(report.ReasonNoMatch, "no lock is below %s: check --zookeeper-root and --prefix, or use --allow-empty",
				report.KeyText(root))
		}
		l.Count(s.places, "places in queues below "+report.KeyText(root))
		known, err := s.judgeHolders(ctx, root, root == b.root)
		if err != nil {
			return err
		}
		s.judgeSessions(root, known)
	}
	return nil
}

// hides says that a finding is in a node that may not be read.
func (s *leakScan) hides(f *report.Finding) bool {
	return slices.ContainsFunc(s.denied, func(dir string) bool {
		return strings.HasPrefix(f.Key, strings.TrimSuffix(dir, "/")+"/")
	})
}

// roots are that of zklock and the given ones, without those below another.
func (b *Backend) roots(r *backend.LeakRules) (roots []string) {
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
	if !ours || !s.rules.Wants(report.HeldTooLong) {
		return known, nil
	}
	held, err := zklock.ReadHeldLocks(ctx, s.conn, root)
	if errors.Is(err, zk.ErrNoAuth) {
		s.leaks.Hide(func(f *report.Finding) bool { return f.Place == root })
		return known, nil // counted already
	}
	for _, h := range held {
		limit, since := s.rules.HoldLimit(h.Holder.Kind), s.now.Sub(h.Holder.Since)
		if h.Holder == (lock.Holder{}) {
			continue
		}
		if known[h.Key] = true; limit > 0 && since > limit {
			s.leaks.Add(report.Finding{
				Class: report.HeldTooLong, Place: root, Key: h.Key, Type: "znode", TTL: -1,
				Hold: report.Hold{Holder: h.Holder, Format: report.FormatLockscope, Fence: h.Fence},
				Evidence: fmt.Sprintf("one holder has had it for %s, longer than the limit of %s, and keeps its session "+
					"alive", ui.Whole(since), ui.Whole(limit)),
			}, fmt.Sprint(h.Fence, h.Holder.Since))
		}
	}
	return known, err
}
