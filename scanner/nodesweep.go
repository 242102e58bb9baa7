package scanner

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/server"
)

// nodeSweep is one master in one sweep. One goroutine at a time uses it.
type nodeSweep struct {
	connection
	cfg     *config
	reader  *keyreader.Reader
	memory  *remembered
	ledger  *ledger
	orphans *orphans
	report  NodeReport
}

func newNodeSweep(c connection, cfg *config, m *remembered, l *ledger, o *orphans) *nodeSweep {
	return &nodeSweep{
		connection: c, cfg: cfg, reader: c.reader(cfg.query(), m.capability),
		memory: m, ledger: l, orphans: o, report: newNodeReport(c.node),
	}
}

// read goes through the node's pages.
func (n *nodeSweep) read(ctx context.Context) {
	began := n.cfg.now()
	n.report.Calls++
	keys, expiring, err := server.Keyspace(ctx, n.pages, n.source.db)
	if err != nil {
		n.report.fail(ctx, "read INFO", err)
		n.orphans.markDown(n.source)
	} else if keys == expiring && n.cfg.onlyNoTTL() {
		// Every key expires: that was true of one instant, as everything a sweep
		// finds is, and takes one command instead of one for each page.
		n.report.Path, n.report.Examined = PathShortcut, keys
		n.memory.pass.abandon()
	} else {
		n.readPages(ctx, max(keys, 0))
		n.memory.capability = n.reader.Capability()
	}
	n.report.Took = n.cfg.now().Sub(began)
	n.progress(max(keys, n.report.Examined), true)
}

// readPages goes on with the node's pass until it ends, or ctx does.
func (n *nodeSweep) readPages(ctx context.Context, keys int64) {
	pass := &n.memory.pass
	fresh := pass.resume()
	for {
		if err := n.readPage(ctx, keys); err != nil {
			n.report.fail(ctx, "read page", err)
			if n.report.Err != nil {
				n.orphans.markDown(n.source)
				pass.abandon() // the node may come back with other keys at the cursor
			}
			return
		}
		if pass.ended() {
			if fresh {
				n.report.Examined = max(keys, n.report.Locks)
			}
			if pass.finish(n.cfg.valuesPerPass()) {
				n.memory.watch.endRound()
			}
			return
		}
		n.progress(keys, false)
		if !pause(ctx, n.cfg.pause) {
			n.report.Truncated = true
			return
		}
	}
}

func (n *nodeSweep) readPage(ctx context.Context, keys int64) error {
	pass, rep := &n.memory.pass, &n.report
	page, err := n.reader.Page(ctx, pass.cursor, pass.wanted(n.cfg.valuesPerPass()))
	rep.Path = PathPipeline
	if n.reader.Scripted() {
		rep.Path = PathScript
	}
	if err != nil {
		return err
	}
	locks, err := n.take(ctx, &page)
	if err != nil {
		return err
	}
	pass.advance(page.Next, locks)
	rep.Locks = pass.locks
	rep.Examined = min(rep.Examined+int64(n.cfg.pageSize), max(keys, rep.Locks))
	return nil
}

func (n *nodeSweep) progress(keys int64, done bool) {
	if n.cfg.progress != nil {
		n.cfg.progress(Progress{Node: n.node, Examined: n.report.Examined, Keys: keys, Locks: n.report.Locks, Done: done})
	}
}

// take looks into the locks of a page and counts them. If ctx ends meanwhile, the
// page is not done.
func (n *nodeSweep) take(ctx context.Context, page *keyreader.Page) (locks int64, err error) {
	n.report.Unread += page.Keys - int64(len(page.Values))
	locks = page.Keys
	now := n.cfg.now()
	var ours []*keyreader.Value
	for i := range page.Values {
		v := &page.Values[i]
		if keyreader.IsHelper(v.Key) {
			locks-- // a name that a pattern without helper prefixes can match
			continue
		}
		if v.Gone() {
			continue
		}
		hold := holdOf(v)
		since := n.heldSince(v, hold, now)
		for _, class := range n.cfg.classify(v, since, now) {
			n.ledger.note(n.finding(class, v, n.cfg.evidence(class, v, since, now), since, now))
		}
		if n.cfg.checks[Orphan] && n.orphans.possible() && hold.Format == FormatLockscope {
			ours = append(ours, v)
		}
	}
	return locks, n.takeOrphans(ctx, ours, now)
}

// takeOrphans compares lockscope's locks of a page with the other nodes.
func (n *nodeSweep) takeOrphans(ctx context.Context, ours []*keyreader.Value, now time.Time) error {
	if len(ours) == 0 {
		return nil
	}
	tallies, calls := n.orphans.count(ctx, n.source, ours)
	n.report.Calls += calls
	for _, c := range tallies {
		if c.minority() {
			n.ledger.note(n.finding(Orphan, c.value, c.evidence(), time.Time{}, now))
		}
	}
	return ctx.Err()
}

// heldSince is what the value says, or what was seen of it.
func (n *nodeSweep) heldSince(v *keyreader.Value, h Hold, now time.Time) time.Time {
	if !n.cfg.checks[HeldTooLong] || foreign(v) || !h.Since.IsZero() {
		return h.Since
	}
	if n.cfg.maxWatched == 0 {
		return time.Time{}
	}
	since, ok := n.memory.watch.note(v.Key, v.Identity(), now)
	if !ok {
		n.report.Unwatched++
	}
	return since
}

func (n *nodeSweep) finding(class Class, v *keyreader.Value, evidence string, since, now time.Time) Finding {
	return Finding{
		Class: class, Node: n.node, Key: v.Key, Type: v.Type, TTL: v.TTL, Hold: holdOf(v), Evidence: evidence,
		FirstSeen: now, LastSeen: now, identity: v.Identity(), since: since,
	}
}
