package keyreader

import (
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

// NoLimit as a Query's Limit describes no key for its TTL, except keys without one.
const NoLimit time.Duration = math.MaxInt64

// Query selects the keys of pages, and those keys that pages describe.
type Query struct {
	Pattern string        // a glob pattern of Redis; see [Escape]
	Count   int           // COUNT of SCAN
	Limit   time.Duration // keys with a longer TTL, or with none, are described
}

// limit is in milliseconds. It is rounded down, so that a page describes rather one key too many.
func (q Query) limit() int64 {
	if q.Limit == NoLimit {
		return math.MaxInt64 >> 10 // exact as a float, which Lua's numbers are
	}
	return q.Limit.Milliseconds()
}

// Reader reads the keys of one server with the given clients, which stay the caller's. It remembers what it learns
// about the server, see [Reader.Capability], and so is for one goroutine at a time.
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

	importing  node.SlotSet // whose keys are asked for by ASKING
	redirected int64
}

// New makes a Reader that reads pages from pages, which may be a replica, and looks at keys on master. learnt is the
// Capability from an earlier Reader of the same server; the zero value is none.
func New(master, pages *redis.Client, q Query, learnt Capability) *Reader {
	return &Reader{
		master: master, pages: pages, query: q, mixed: matchesHelpers(q.Pattern),
		page: redisconn.NewScript(describeLua, pageLua), look: redisconn.NewScript(describeLua, lookLua),
		capability: learnt,
	}
}

// Capability returns what the Reader has learnt about the server.
func (r *Reader) Capability() Capability { return r.capability }

// Scripted reports whether the next page is read by a script: the server has run one, and none has failed since.
func (r *Reader) Scripted() bool { return r.capability.scripts == proven && !r.failed }

// Calls returns the number of commands sent.
func (r *Reader) Calls() int64 { return r.calls }

// Seek changes the pattern of the following pages, and its Limit.
func (r *Reader) Seek(pattern string, limit time.Duration) {
	r.query.Pattern, r.query.Limit, r.mixed = pattern, limit, matchesHelpers(pattern)
}

// Resize changes the COUNT of the following pages.
func (r *Reader) Resize(count int) { r.query.Count = count }

// Importing sets the slots that are moving to this server. Their keys need an ASKING.
func (r *Reader) Importing(slots node.SlotSet) { r.importing = slots }

// Redirected returns the number of keys that the server said another one has. They are not in a page's Values, and
// Gone for a look: nothing is known of them.
func (r *Reader) Redirected() int64 { return r.redirected }

// Scope says which keys are read, and how gently.
type Scope struct {
	Patterns   []string // that locks are looked for by, at least one
	PageSize   int
	Pause      time.Duration // after each page; the longest one if Adaptive
	Adaptive   bool          // a sweep goes as fast as other clients of the server allow
	Capability Capability    // what is known of every node beforehand: for tests
}
