package scanner

import (
	"context"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/hashslot"
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
	values  *values
	report  NodeReport
	covered coverage // of a cluster's node: what was read of its slots

	excluded []int // findings kept out, by exclusion
	view     server.ClusterView
}

func newNodeSweep(c connection, cfg *config, m *remembered, l *ledger, o *orphans, v *values) *nodeSweep {
	return &nodeSweep{
		connection: c, cfg: cfg, reader: c.reader(cfg.query(), m.capability),
		memory: m, ledger: l, orphans: o, values: v, report: newNodeReport(c.node),
		excluded: make([]int, len(cfg.exclusions)),
	}
}

// read goes through the node's pages.
func (n *nodeSweep) read(ctx context.Context) {
	began := n.cfg.now()
	keys, err := n.readAll(ctx)
	if err != nil {
		n.orphans.markDown(n.source)
	}
	n.report.Took = n.cfg.now().Sub(began)
	n.progress(max(keys, n.report.Examined), true)
}

// readAll returns how many keys the server has, and the error with which the node failed.
func (n *nodeSweep) readAll(ctx context.Context) (keys int64, err error) {
	now, err := n.standing(ctx)
	if err != nil {
		n.report.fail(ctx, "read INFO", err)
		return 0, n.report.Err
	}
	n.view = now.view
	keys, expiring, ok := now.pages.Keyspace(n.source.db)
	if len(now.pages) == 0 {
		keys = -1
	} else if !ok {
		n.report.fail(ctx, "read INFO", ErrBadReply)
		return 0, n.report.Err
	}
	if err := n.admit(ctx, &now); err != nil {
		n.report.fail(ctx, "check role", err)
		return 0, n.report.Err
	}
	if keys == expiring && n.cfg.onlyNoTTL() {
		n.shortcut(&now, keys)
		return keys, nil
	}
	n.reader.Importing(now.view.Importing)
	n.readPages(ctx, &now, max(keys, 0))
	n.memory.capability = n.reader.Capability()
	return keys, n.report.Err
}

// shortcut takes it that every key expires: that was true of one instant, as everything a
// sweep finds is, and takes one command instead of one for each page.
func (n *nodeSweep) shortcut(now *standing, keys int64) {
	n.report.Path, n.report.Examined = PathShortcut, keys
	if keys == 0 {
		n.report.Matched = map[string]int64{}
	}
	n.memory.pass.abandon()
	n.cover(now, now)
}

// readPages goes on with the node's pass until it ends, or ctx does.
func (n *nodeSweep) readPages(ctx context.Context, now *standing, keys int64) {
	pass, patterns := &n.memory.pass, len(n.cfg.patterns())
	if pass.began != nil && pass.began.pages.RunID() != now.pages.RunID() {
		pass.abandon() // cursors are one process's
	}
	fresh := pass.resume()
	if fresh {
		pass.began = now
		if pass.from == 1 {
			n.memory.watch.begin(n.node, n.cfg.now())
		}
	} else {
		n.values.missSome()
	}
	for {
		pattern := n.cfg.patterns()[pass.pattern]
		n.reader.Seek(pattern, n.cfg.ttlLimitFor(pattern))
		if err := n.readPage(ctx, keys); err != nil {
			n.report.fail(ctx, "read page", err)
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
		if !pause(ctx, n.cfg.pause) {
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
	for i, pattern := range n.cfg.patterns() {
		n.report.Matched[pattern] += pass.matched[i]
	}
	if pass.finish(n.cfg.valuesPerPass()) {
		n.memory.watch.endRound(n.node)
	}
	now, err := n.standing(ctx)
	if err != nil {
		n.report.fail(ctx, "read INFO", err)
		return
	}
	n.compare(began, &now)
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
	pass.advance(page.Next, locks, len(n.cfg.patterns()))
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
		n.values.note(v)
		hold := holdOf(v)
		held := n.tenure(v, &hold, now)
		n.count(&held)
		for _, class := range n.cfg.classify(v, held.since, now) {
			n.note(n.finding(class, v, n.evidence(class, v, &held, now), held.since, now))
		}
		if n.cfg.checks[Orphan] && n.orphans.possible() && hold.Format == FormatLockscope {
			ours = append(ours, v)
		}
	}
	return locks, n.takeOrphans(ctx, ours, now)
}

// moving says that the key may be on another node of the cluster already.
func (n *nodeSweep) moving(key string) bool {
	slots := n.view.Moving()
	return slots.Has(hashslot.Of(key))
}

// seenBefore says that an earlier pattern of this pass matches the key.
func (n *nodeSweep) seenBefore(key string) bool {
	earlier := n.cfg.patterns()[:n.memory.pass.pattern]
	return slices.ContainsFunc(earlier, func(p string) bool { return keyreader.Matches(p, key) })
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
			n.note(n.finding(Orphan, c.value, c.evidence(), time.Time{}, now))
		}
	}
	return ctx.Err()
}

// evidence explains a finding. Why a holder's own word was not believed goes with how
// long it holds.
func (n *nodeSweep) evidence(class Class, v *keyreader.Value, held *tenure, now time.Time) string {
	text := n.cfg.evidence(class, v, held.since, now)
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
func (n *nodeSweep) note(f Finding) {
	if i := n.cfg.excludes(f.Key); i >= 0 {
		n.excluded[i]++
		return
	}
	n.ledger.note(f)
}

func (n *nodeSweep) finding(class Class, v *keyreader.Value, evidence string, since, now time.Time) Finding {
	doubt := doubt(v)
	return Finding{
		Class: class, Node: n.node, Key: v.Key, Type: v.Type, TTL: v.TTL, Hold: holdOf(v), Evidence: evidence,
		Policy:    n.cfg.policyOf(v.Key).Name,
		FirstSeen: now, LastSeen: now, identity: v.Identity(), distinct: doubt == "", doubt: doubt, kept: keptForLife(v), since: since, source: n.source.name,
	}
}
