package keyreader

import (
	"math"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/server"

	"github.com/redis/go-redis/v9"
)

// NoLimit as a Query's Limit describes no key for its TTL, unless it has none.
const NoLimit time.Duration = math.MaxInt64

// Query says which keys pages have, and of which of them pages say more than that
// they are there.
type Query struct {
	Pattern string        // a glob pattern of Redis; see [Escape]
	Count   int           // COUNT of SCAN
	Limit   time.Duration // keys with a longer TTL, or with none, are described
}

// limit in milliseconds. Rounding down makes a page rather describe one key too many.
func (q Query) limit() int64 {
	if q.Limit == NoLimit {
		return math.MaxInt64 >> 10 // exact as a float, which Lua's numbers are
	}
	return q.Limit.Milliseconds()
}

// Reader reads the keys of one server over the given clients, which stay the
// caller's. It keeps what it learns of the server, see [Reader.Capability], and so
// is for one goroutine at a time.
type Reader struct {
	master *redis.Client
	pages  *redis.Client
	query  Query
	mixed  bool // its pattern can match helper keys
	page   *redisconn.Script
	look   *redisconn.Script

	capability Capability
	failed     bool // a script failed for a reason that may pass
	calls      int64

	importing  server.SlotSet // whose keys are asked for by ASKING
	redirected int64
}

// New makes a Reader that reads pages from pages, which may be a replica, and looks
// at keys on master. learnt is what an earlier Reader learnt of the same server; the
// zero value is nothing.
func New(master, pages *redis.Client, q Query, learnt Capability) *Reader {
	return &Reader{
		master: master, pages: pages, query: q, mixed: matchesHelpers(q.Pattern),
		page: redisconn.NewScript(describeLua, pageLua), look: redisconn.NewScript(describeLua, lookLua),
		capability: learnt,
	}
}

// Capability is what has been learnt of the server by now.
func (r *Reader) Capability() Capability { return r.capability }

// Scripted says whether pages are read by a script, as far as is known by now.
func (r *Reader) Scripted() bool { return r.capability.scripts == proven && !r.failed }

// Calls counts the commands sent.
func (r *Reader) Calls() int64 { return r.calls }

// Seek reads the pages of another pattern from now on, with a Limit of its own.
func (r *Reader) Seek(pattern string, limit time.Duration) {
	r.query.Pattern, r.query.Limit, r.mixed = pattern, limit, matchesHelpers(pattern)
}

// Importing tells which slots are on the move to this server: their keys are asked for in
// the way that is meant for that.
func (r *Reader) Importing(slots server.SlotSet) { r.importing = slots }

// Redirected counts the keys of which the server said that another one has to be asked.
// They are in no page's Values and Gone for a look: nothing is known of them.
func (r *Reader) Redirected() int64 { return r.redirected }
