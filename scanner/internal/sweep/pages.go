package sweep

import (
	"context"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/report"
)

// read goes through the node's pages.
func (n *nodeSweep) read(ctx context.Context) {
	began := n.cfg.Now()
	keys, err := n.readAll(ctx)
	if err != nil {
		n.orphans.MarkDown(n.Source)
	}
	n.report.Took = n.cfg.Now().Sub(began)
	n.progress(max(keys, n.report.Examined), true)
}

// readAll returns the number of keys on the server, and the error with which the node failed.
func (n *nodeSweep) readAll(ctx context.Context) (keys int64, err error) {
	now, err := n.covered.Ask(ctx)
	if err != nil {
		fail(ctx, &n.report, "read INFO", err)
		return 0, n.report.Err
	}
	n.view = now.View
	keys, expiring, ok := now.Pages.Keyspace(n.Source.DB)
	if len(now.Pages) == 0 {
		keys = -1
	} else if !ok {
		fail(ctx, &n.report, "read INFO", driver.ErrBadReply)
		return 0, n.report.Err
	}
	if err := n.covered.Admit(ctx, &now); err != nil {
		fail(ctx, &n.report, "check role", err)
		return 0, n.report.Err
	}
	if keys == expiring && n.cfg.Rules.OnlyNoTTL() {
		n.shortcut(&now, keys)
		return keys, nil
	}
	n.reader.Importing(now.View.Importing)
	n.readPages(ctx, &now, max(keys, 0))
	n.memory.capability = n.reader.Capability()
	return keys, n.report.Err
}

// shortcut concludes that every key expires. That was true at one instant, as everything that a sweep finds, and
// takes one command instead of one per page.
func (n *nodeSweep) shortcut(now *coverage.Standing, keys int64) {
	n.report.Path, n.report.Examined = report.PathShortcut, keys
	if keys == 0 {
		n.report.Matched = map[string]int64{}
	}
	n.memory.pass.abandon()
	n.covered.Cover(now, now)
}

// readPages continues the node's pass until it or ctx ends.
func (n *nodeSweep) readPages(ctx context.Context, now *coverage.Standing, keys int64) {
	pass, patterns := &n.memory.pass, len(n.cfg.Scope.Patterns)
	if pass.began != nil && pass.began.Pages.RunID() != now.Pages.RunID() {
		pass.abandon() // cursors are one process's
	}
	fresh := pass.resume()
	if fresh {
		pass.began = now
		if pass.from == 1 {
			n.memory.watch.Begin(n.Node, n.cfg.Now())
		}
	} else {
		n.values.MissSome()
	}
	gauge := n.gauge()
	defer gauge.stop()
	for {
		pattern := n.cfg.Scope.Patterns[pass.pattern]
		n.reader.Seek(pattern, n.cfg.Rules.TTLLimitFor(pattern))
		if err := n.readPage(ctx, keys, gauge.count()); err != nil {
			fail(ctx, &n.report, "read page", err)
			if n.report.Err != nil {
				pass.abandon() // the node may come back with other keys at the cursor
			}
			return
		}
		if pass.ended(patterns) {
			n.finish(ctx, fresh, keys)
			return
		}
		n.progress(keys, false)
		if !gauge.pause(ctx) {
			n.report.Truncated = true
			return
		}
	}
}

// finish ends a pass. What the node reports about itself now shows what was read.
func (n *nodeSweep) finish(ctx context.Context, fresh bool, keys int64) {
	pass := &n.memory.pass
	began := pass.began
	if fresh {
		n.report.Examined = max(keys, n.report.Locks)
	}
	n.report.Matched = make(map[string]int64)
	for i, pattern := range n.cfg.Scope.Patterns {
		n.report.Matched[pattern] += pass.matched[i]
	}
	if pass.finish(n.cfg.valuesPerPass()) {
		n.memory.watch.EndRound(n.Node)
	}
	now, err := n.covered.Ask(ctx)
	if err != nil {
		fail(ctx, &n.report, "read INFO", err)
		return
	}
	n.covered.Compare(began, &now)
}

func (n *nodeSweep) readPage(ctx context.Context, keys int64, count int) error {
	n.reader.Resize(count)
	pass, rep, redirected := &n.memory.pass, &n.report, n.reader.Redirected()
	page, err := n.reader.Page(ctx, pass.cursor, pass.wanted(n.cfg.valuesPerPass()))
	rep.Path = report.PathPipeline
	if n.reader.Scripted() {
		rep.Path = report.PathScript
	}
	if err != nil {
		return err
	}
	rep.Unread += page.Keys - int64(len(page.Values)) - (n.reader.Redirected() - redirected)
	locks, err := n.take(ctx, &page)
	if err != nil {
		return err
	}
	pass.advance(page.Next, locks, int64(count), len(n.cfg.Scope.Patterns))
	rep.Locks = pass.locks
	rep.Examined = min(rep.Examined+int64(count), max(keys, rep.Locks))
	return nil
}

func (n *nodeSweep) progress(keys int64, done bool) {
	if n.cfg.Progress == nil {
		return
	}
	p := report.Progress{Node: n.Node, Examined: n.report.Examined, Keys: keys, Locks: n.report.Locks, Share: 1, Done: done}
	if !done {
		p.Share = n.memory.pass.share(keys, len(n.cfg.Scope.Patterns))
	}
	n.cfg.Progress(p)
}
