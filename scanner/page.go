package scanner

import (
	"context"
	"fmt"
	"math"

	"github.com/lockscope/lockscope/scanner/internal/server"
)

// pageRequest asks for one page of keys.
type pageRequest struct {
	cursor string
	// first and last of the page's locks, counted from 1, whose values are wanted
	// whatever their TTL; last is below first if there are none.
	first, last int64
}

// pageReply is a page: how many locks it has, and those worth a closer look.
type pageReply struct {
	next   string // "0": the last page
	locks  int64
	values []value
}

// page reads a page by a script if the server lets it, else by plain commands.
// Both see the same.
func (r *run) page(ctx context.Context, t *target, req pageRequest) (pageReply, error) {
	if r.cfg.path == PathPipeline {
		t.path = PathPipeline
	}
	for t.path != PathPipeline && !t.scriptFailed {
		reply, err := r.scriptPage(ctx, t, req)
		switch {
		case err == nil:
			t.path = PathScript
			return reply, nil
		case !server.IsReply(err) || r.cfg.path == PathScript:
			return pageReply{}, err
		case !server.IsRefused(err):
			// A key of a slot on the move, perhaps: the next sweep tries again.
			t.scriptFailed = true
		case t.script+1 < len(server.EvalCommands()):
			t.script++
		default:
			t.path = PathPipeline
		}
	}
	return r.plainPage(ctx, t, req)
}

func (r *run) scriptPage(ctx context.Context, t *target, req pageRequest) (pageReply, error) {
	t.calls++
	reply, err := r.scripts.page.Run(ctx, t.pages, server.EvalCommands()[t.script],
		0, req.cursor, r.cfg.pattern, r.cfg.pageSize, r.ttlLimit(), req.first, req.last, flag(r.mixed))
	if err != nil {
		return pageReply{}, err
	}
	return parsePage(reply)
}

// ttlLimit is the highest TTL in milliseconds that is no finding. Rounding down
// makes a page rather describe one lock too many.
func (r *run) ttlLimit() int64 {
	if !r.cfg.checks[LongTTL] {
		return math.MaxInt64 >> 10 // exact as a float, which Lua's numbers are
	}
	return r.cfg.maxTTL.Milliseconds()
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func parsePage(reply any) (pageReply, error) {
	parts, ok := reply.([]any)
	if !ok || len(parts) != 3 {
		return pageReply{}, fmt.Errorf("%w: a page has %d parts", ErrBadReply, len(parts))
	}
	next, ok1 := parts[0].(string)
	locks, ok2 := parts[1].(int64)
	found, ok3 := parts[2].([]any)
	if !ok1 || !ok2 || !ok3 {
		return pageReply{}, fmt.Errorf("%w: a page has parts of other types", ErrBadReply)
	}
	p := pageReply{next: next, locks: locks, values: make([]value, len(found))}
	for i, f := range found {
		var err error
		if p.values[i], err = parseValue(f); err != nil {
			return pageReply{}, err
		}
	}
	return p, nil
}
