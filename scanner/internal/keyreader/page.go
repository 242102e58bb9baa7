package keyreader

import (
	"context"
	"fmt"
	"math"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

// Page reads the page at a cursor by a script if the server allows it, else by plain commands, with the same result.
// The error is that of the server, the connection or ctx. It matches driver.ErrBadReply if an answer makes no sense.
// The caller may ask for the page again.
func (r *Reader) Page(ctx context.Context, cursor string, wanted Wanted) (Page, error) {
	for r.capability.scripts != refused && !r.failed {
		page, err := r.scriptPage(ctx, cursor, wanted)
		switch {
		case err == nil:
			r.capability.scripts = proven
			return page, nil
		case !redisconn.IsReply(err), r.capability.only && !(node.IsRefused(err) && r.capability.another()):
			return Page{}, err
		case !node.IsRefused(err):
			// A key of a slot on the move, perhaps: the next Reader tries again.
			r.failed = true
		default:
			r.capability.refuse()
		}
	}
	return r.plainPage(ctx, cursor, wanted)
}

func (r *Reader) scriptPage(ctx context.Context, cursor string, wanted Wanted) (Page, error) {
	r.calls++
	reply, err := r.page.Run(ctx, r.pages, r.capability.command(),
		redisconn.Args(0, cursor, r.query.Pattern, r.query.Count,
			r.query.limit(), wanted.First, wanted.Last, flag(r.mixed), small.fields, small.bytes))
	if err != nil {
		return Page{}, err
	}
	return parsePage(reply)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// parsePage reads a reply of page.lua.
func parsePage(reply any) (Page, error) {
	parts, _ := reply.([]any)
	if len(parts) != 3 {
		return Page{}, fmt.Errorf("%w: a page has %d parts", driver.ErrBadReply, len(parts))
	}
	next, ok1 := parts[0].(string)
	keys, ok2 := parts[1].(int64)
	found, ok3 := parts[2].([]any)
	if !ok1 || !ok2 || !ok3 {
		return Page{}, fmt.Errorf("%w: a page has parts of unexpected types", driver.ErrBadReply)
	}
	p := Page{Next: next, Keys: keys, Values: make([]Value, len(found))}
	for i, f := range found {
		var err error
		if p.Values[i], err = parseValue(f); err != nil {
			return Page{}, err
		}
	}
	return p, nil
}

// FirstCursor begins a pass through all keys. As a Page's Next, it ends the pass.
const FirstCursor = "0"

// Wanted selects the keys of a page that are described whatever their TTL: from First to Last, counted from 1. The
// zero value selects none.
type Wanted struct{ First, Last int64 }

// All selects every key.
func All() Wanted { return Wanted{First: 1, Last: math.MaxInt32} }

// Page is one page of keys.
type Page struct {
	Next   string // cursor of the next page; [FirstCursor]: there is none
	Keys   int64  // number of keys, without the helper keys that page.lua knows
	Values []Value
}
