package scanner

import (
	"context"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/orphan"
	"github.com/lockscope/lockscope/scanner/internal/proof"
	"github.com/lockscope/lockscope/scanner/internal/server"
	"github.com/lockscope/lockscope/scanner/internal/sight"
	"github.com/lockscope/lockscope/scanner/internal/value"
)

// nodeSweep is one master in one sweep. One goroutine at a time uses it.
type nodeSweep struct {
	node.Connection
	cfg     *config
	reader  *keyreader.Reader
	memory  *remembered
	ledger  *ledger.Ledger
	orphans *orphan.Redlock
	values  *proof.Values
	report  NodeReport
	covered *coverage.Node

	excluded []int // findings kept out, by exclusion
	view     server.ClusterView
}

func newNodeSweep(c node.Connection, cfg *config, m *remembered, l *ledger.Ledger, o *orphan.Redlock, v *proof.Values) *nodeSweep {
	n := &nodeSweep{
		Connection: c, cfg: cfg, reader: c.Reader(cfg.query(), m.capability),
		memory: m, ledger: l, orphans: o, values: v, report: newNodeReport(c.Node),
		excluded: make([]int, len(cfg.rules.Exclusions)),
	}
	n.covered = coverage.NewNode(c, &n.report, cfg.now)
	return n
}

// read goes through the node's pages.
func (n *nodeSweep) read(ctx context.Context) {
	began := n.cfg.now()
	keys, err := n.readAll(ctx)
	if err != nil {
		n.orphans.MarkDown(n.Source)
	}
	n.report.Took = n.cfg.now().Sub(began)
	n.progress(max(keys, n.report.Examined), true)
}

// readAll returns how many keys the server has, and the error with which the node failed.
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
		fail(ctx, &n.report, "read INFO", ErrBadReply)
		return 0, n.report.Err
	}
	if err := n.covered.Admit(ctx, &now); err != nil {
		fail(ctx, &n.report, "check role", err)
		return 0, n.report.Err
	}
	if keys == expiring && n.cfg.rules.OnlyNoTTL() {
		n.shortcut(&now, keys)
		return keys, nil
	}
	n.reader.Importing(now.View.Importing)
	n.readPages(ctx, &now, max(keys, 0))
	n.memory.capability = n.reader.Capability()
	return keys, n.report.Err
}

// shortcut takes it that every key expires: that was true of one instant, as everything a
// sweep finds is, and takes one command instead of one for each page.
func (n *nodeSweep) shortcut(now *coverage.Standing, keys int64) {
	n.report.Path, n.report.Examined = PathShortcut, keys
	if keys == 0 {
		n.report.Matched = map[string]int64{}
	}
	n.memory.pass.abandon()
	n.covered.Cover(now, now)
}

// readPages goes on with the node's pass until it ends, or ctx does.
func (n *nodeSweep) readPages(ctx context.Context, now *coverage.Standing, keys int64) {
	pass, patterns := &n.memory.pass, len(n.cfg.scope.Patterns)
	if pass.began != nil && pass.began.Pages.RunID() != now.Pages.RunID() {
		pass.abandon() // cursors are one process's
	}
	fresh := pass.resume()
	if fresh {
		pass.began = now
		if pass.from == 1 {
			n.memory.watch.begin(n.Node, n.cfg.now())
		}
	} else {
		n.values.MissSome()
	}
	for {
		pattern := n.cfg.scope.Patterns[pass.pattern]
		n.reader.Seek(pattern, n.cfg.rules.TTLLimitFor(pattern))
		if err := n.readPage(ctx, keys); err != nil {
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
		if !clock.Pause(ctx, n.cfg.scope.Pause) {
			n.report.Truncated = true
			return
		}
	}
}

// finish ends a pass: what the node says of itself now tells what was read.
func (n *nodeSweep) finish(ctx context.Context, fresh bool, keys int64) {
	pass := &n.memory.pass
	began := pass.began
	if fresh {
		n.report.Examined = max(keys, n.report.Locks)
	}
	n.report.Matched = make(map[string]int64)
	for i, pattern := range n.cfg.scope.Patterns {
		n.report.Matched[pattern] += pass.matched[i]
	}
	if pass.finish(n.cfg.valuesPerPass()) {
		n.memory.watch.endRound(n.Node)
	}
	now, err := n.covered.Ask(ctx)
	if err != nil {
		fail(ctx, &n.report, "read INFO", err)
		return
	}
	n.covered.Compare(began, &now)
}

func (n *nodeSweep) readPage(ctx context.Context, keys int64) error {
	pass, rep, redirected := &n.memory.pass, &n.report, n.reader.Redirected()
	page, err := n.reader.Page(ctx, pass.cursor, pass.wanted(n.cfg.valuesPerPass()))
	rep.Path = PathPipeline
	if n.reader.Scripted() {
		rep.Path = PathScript
	}
	if err != nil {
		return err
	}
	rep.Unread += page.Keys - int64(len(page.Values)) - (n.reader.Redirected() - redirected)
	locks, err := n.take(ctx, &page)
	if err != nil {
		return err
	}
	pass.advance(page.Next, locks, len(n.cfg.scope.Patterns))
	rep.Locks = pass.locks
	rep.Examined = min(rep.Examined+int64(n.cfg.scope.PageSize), max(keys, rep.Locks))
	return nil
}

func (n *nodeSweep) progress(keys int64, done bool) {
	if n.cfg.progress != nil {
		n.cfg.progress(Progress{Node: n.Node, Examined: n.report.Examined, Keys: keys, Locks: n.report.Locks, Done: done})
	}
}

// take looks into the locks of a page and counts them. If ctx ends meanwhile, the
// page is not done.
func (n *nodeSweep) take(ctx context.Context, page *keyreader.Page) (locks int64, err error) {
	locks = page.Keys
	now := n.cfg.now()
	var ours []*keyreader.Value
	for i := range page.Values {
		v := &page.Values[i]
		if keyreader.IsHelper(v.Key) || n.seenBefore(v.Key) {
			locks-- // a name that a pattern without helper prefixes can match, or that an earlier one has
			continue
		}
		if v.Gone() {
			continue
		}
		n.values.Note(v)
		hold := value.Holder(v)
		held := n.tenure(v, &hold, now)
		n.count(&held)
		for _, class := range n.cfg.rules.Classify(v, held.since, now) {
			n.note(n.finding(class, v, n.evidence(class, v, &held, now), held.since, now))
		}
		if n.cfg.rules.Checks[Orphan] && n.orphans.Possible() && hold.Format == FormatLockscope {
			ours = append(ours, v)
		}
	}
	return locks, n.takeOrphans(ctx, ours, now)
}

// moving says that the key may be on another node of the cluster already.
func (n *nodeSweep) moving(key string) bool {
	slots := n.view.Moving()
	return slots.Has(server.KeySlot(key))
}

// seenBefore says that an earlier pattern of this pass matches the key.
func (n *nodeSweep) seenBefore(key string) bool {
	earlier := n.cfg.scope.Patterns[:n.memory.pass.pattern]
	return slices.ContainsFunc(earlier, func(p string) bool { return keyreader.Matches(p, key) })
}

// takeOrphans compares lockscope's locks of a page with the other nodes.
func (n *nodeSweep) takeOrphans(ctx context.Context, ours []*keyreader.Value, now time.Time) error {
	if len(ours) == 0 {
		return nil
	}
	tallies, calls := n.orphans.Count(ctx, n.Source, ours)
	n.report.Calls += calls
	for _, c := range tallies {
		if c.Minority() {
			n.note(n.finding(Orphan, c.Value, c.Evidence(), time.Time{}, now))
		}
	}
	return ctx.Err()
}

// evidence explains a finding. Why a holder's own word was not believed goes with how
// long it holds.
func (n *nodeSweep) evidence(class Class, v *keyreader.Value, held *tenure, now time.Time) string {
	text := n.cfg.rules.Evidence(class, v, held.since, now)
	if class == HeldTooLong {
		text += held.doubt
	}
	return text
}

// count takes down of how many locks it is not known since when they are held.
func (n *nodeSweep) count(held *tenure) {
	if held.unwatched {
		n.report.Unwatched++
	}
	if held.indistinct {
		n.report.Indistinct++
	}
}

// note keeps a finding, or counts it if an exclusion keeps it out.
func (n *nodeSweep) note(f ledger.Entry) {
	if i := n.cfg.rules.Excludes(f.Key, n.cfg.now()); i >= 0 {
		n.excluded[i]++
		return
	}
	n.ledger.Note(f)
}

func (n *nodeSweep) finding(class Class, v *keyreader.Value, evidence string, since, now time.Time) ledger.Entry {
	doubt := value.Doubt(v)
	return ledger.Entry{
		Finding: Finding{
			Class: class, Node: n.Node, Key: v.Key, Type: v.Type, TTL: v.TTL, Hold: value.Holder(v), Evidence: evidence,
			Policy: n.cfg.rules.PolicyOf(v.Key).Name, FirstSeen: now, LastSeen: now,
		},
		Facts: sight.Facts{
			Source: n.Source.Name, Since: since, Identity: v.Identity(), Distinct: doubt == "", Doubt: doubt, Kept: value.Kept(v),
		},
	}
}

func newNodeReport(name string) NodeReport { return NodeReport{Node: name, Counts: map[Class]int{}} }

// fail takes down why the node could not be swept to its end. What the sweep's own
// end has cut off is truncated, which is no failure of the node.
func fail(ctx context.Context, r *NodeReport, op string, err error) {
	r.Truncated = true
	if !clock.Ended(ctx) {
		r.Err = &NodeError{Node: r.Node, Op: op, Err: redisconn.Scrub(err)}
	}
}
