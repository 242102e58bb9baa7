package scanner

import (
	"context"
	"math"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/server"
)

// pass is one way through all keys of a node. It takes several sweeps if they are
// cut off by their deadline: the next one goes on where the last one stopped,
// which SCAN's cursors, being kept by the client, allow.
type pass struct {
	cursor string // "": a new pass
	locks  int64
	from   int64 // values are wanted of the locks from this one on, counted from 1
}

// firstCursor begins a pass and, as the next one, ends it.
const firstCursor = "0"

// sweepNode goes through the pages of one node.
func (r *run) sweepNode(ctx context.Context, t *target, rep *NodeReport) {
	began := r.cfg.now()
	t.calls++
	keys, expiring, err := server.Keyspace(ctx, t.pages, t.source.db)
	if err != nil {
		r.fail(ctx, rep, "read INFO", err)
		r.orphans.markDown(t.source)
	} else if keys == expiring && r.onlyNoTTL() {
		// Every key expires: that was true of one instant, as everything a sweep
		// finds is, and takes one command instead of one for each page.
		rep.Path, rep.Examined = PathShortcut, keys
		t.pass = pass{from: t.pass.from}
	} else {
		r.readPages(ctx, t, rep, max(keys, 0))
	}
	rep.Took = r.cfg.now().Sub(began)
	r.progress(t, rep, max(keys, rep.Examined), true)
}

func (r *run) onlyNoTTL() bool { return len(r.cfg.checks) == 1 && r.cfg.checks[NoTTL] }

// readPages goes on with the node's pass until it ends, or ctx does.
func (r *run) readPages(ctx context.Context, t *target, rep *NodeReport, keys int64) {
	if t.pass.cursor == "" {
		t.pass = pass{cursor: firstCursor, from: max(t.pass.from, 1)}
	}
	whole := t.pass.cursor == firstCursor
	for {
		if err := r.readPage(ctx, t, rep, keys); err != nil {
			r.fail(ctx, rep, "read page", err)
			if rep.Err != nil {
				r.orphans.markDown(t.source)
				t.pass.cursor = "" // it may come back with other keys at the cursor
			}
			return
		}
		if t.pass.cursor == firstCursor {
			if whole {
				rep.Examined = max(keys, rep.Locks)
			}
			r.endPass(t)
			return
		}
		r.progress(t, rep, keys, false)
		if !pause(ctx, r.cfg.pause) {
			rep.Truncated = true
			return
		}
	}
}

func (r *run) readPage(ctx context.Context, t *target, rep *NodeReport, keys int64) error {
	page, err := r.page(ctx, t, r.nextPage(t))
	rep.Path = t.path
	if t.scriptFailed || rep.Path == "" {
		rep.Path = PathPipeline
	}
	if err == nil {
		err = r.take(ctx, t, rep, &page)
	}
	if err != nil {
		return err
	}
	t.pass.cursor = page.next
	t.pass.locks += page.locks
	rep.Locks = t.pass.locks
	rep.Examined = min(rep.Examined+int64(r.cfg.pageSize), max(keys, rep.Locks))
	return nil
}

// nextPage wants the values of the locks whose turn it is.
func (r *run) nextPage(t *target) pageRequest {
	req := pageRequest{cursor: t.pass.cursor}
	if !r.cfg.readsValues() || r.cfg.maxValues == 0 {
		return req
	}
	req.first, req.last = max(t.pass.from-t.pass.locks, 1), math.MaxInt32
	if r.cfg.maxValues != AllValues {
		req.last = max(t.pass.from+int64(r.cfg.maxValues)-1-t.pass.locks, 0)
	}
	return req
}

// endPass hands the turn of having their values read to the next locks, or begins
// again with the first.
func (r *run) endPass(t *target) {
	next := t.pass.from + int64(r.cfg.maxValues)
	if r.cfg.maxValues <= 0 || next > t.pass.locks {
		t.watch.endRound()
		next = 1
	}
	t.pass = pass{from: next}
}

func (r *run) progress(t *target, rep *NodeReport, keys int64, done bool) {
	if r.cfg.progress != nil {
		r.cfg.progress(Progress{Node: t.name, Examined: rep.Examined, Keys: keys, Locks: rep.Locks, Done: done})
	}
}

// take looks into the locks of a page. If ctx ends meanwhile, the page is not done.
func (r *run) take(ctx context.Context, t *target, rep *NodeReport, page *pageReply) error {
	rep.Unread += page.locks - int64(len(page.values))
	now := r.cfg.now()
	var ours []*value
	for i := range page.values {
		v := &page.values[i]
		if helperKey(v.key) {
			page.locks-- // a name that a pattern without helperPrefixes can match
			continue
		}
		if v.kind == kindNone {
			continue
		}
		holder := v.holder()
		since := r.heldSince(t, rep, v, holder, now)
		for _, class := range r.cfg.classify(v, since, now) {
			r.ledger.note(r.finding(t, class, v, holder, since, now))
		}
		if r.cfg.checks[Orphan] && len(r.sources) > 1 && holder.Format == FormatLockscope {
			ours = append(ours, v)
		}
	}
	if len(ours) == 0 {
		return nil
	}
	for _, c := range r.orphans.count(ctx, t, ours) {
		if c.minority() {
			f := r.finding(t, Orphan, c.value, c.value.holder(), time.Time{}, now)
			f.Evidence = c.evidence()
			r.ledger.note(f)
		}
	}
	return ctx.Err()
}

// heldSince is what the value says, or what was seen of it.
func (r *run) heldSince(t *target, rep *NodeReport, v *value, h Holder, now time.Time) time.Time {
	if !r.cfg.checks[HeldTooLong] || v.foreign() || !h.Since.IsZero() {
		return h.Since
	}
	if r.cfg.maxWatched == 0 {
		return time.Time{}
	}
	since, ok := t.watch.note(v.key, v.identity(), now)
	if !ok {
		rep.Unwatched++
	}
	return since
}

func (r *run) finding(t *target, class Class, v *value, h Holder, since, now time.Time) Finding {
	return Finding{
		Class: class, Node: t.name, Key: v.key, Type: v.kind, TTL: v.ttl, Holder: h,
		Evidence:  r.cfg.evidence(class, v, since, now),
		FirstSeen: now, LastSeen: now, identity: v.identity(), since: since,
	}
}

// pause waits, and says whether ctx lasted.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
