package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Document is the JSON form of a fleet: schema 1. Durations are in seconds.
type Document struct {
	Schema    int             `json:"schema"`
	At        time.Time       `json:"at"`
	Read      *float64        `json:"read_seconds,omitempty"` // ago: waits are as the nodes told then; null: none were read
	Instance  string          `json:"instance"`               // who reports
	Unknown   string          `json:"waits_unknown,omitempty"`
	Sets      []state.NodeSet `json:"sets,omitempty"` // of the nodes that are read, with whether they have a quorum
	Deadlocks []string        `json:"deadlocks"`
	Resources []Resource      `json:"resources"` // that somebody waits for; most waited for first, elections last
	Pages     []Read          `json:"pages"`     // by address
	Omitted   int             `json:"pages_omitted,omitempty"`
}

// Resource is a resource with waiters.
type Resource struct {
	Resource  string   `json:"resource"`
	Backend   string   `json:"backend,omitempty"`       // the pages' name of the nodes, if none of them was read
	Waiting   int      `json:"waiting"`                 // calls
	Processes int      `json:"processes"`               // they belong to
	Longest   float64  `json:"longest_seconds"`         // wait
	Holder    *Holder  `json:"holder,omitempty"`        // null: nobody holds it, or the nodes do not tell
	Chain     []string `json:"chain,omitempty"`         // what the holder waits for, and so on
	Waiters   []Waiter `json:"waiters"`                 // those in front; of how many, Processes says
	OnlyPages bool     `json:"only_on_pages,omitempty"` // no node has a queue for it

	Kind       lock.Kind `json:"kind,omitempty"`         // what it is part of; the slots of a semaphore are one resource
	Slots      int       `json:"slots,omitempty"`        // of the semaphore
	SlotsInUse *int      `json:"slots_in_use,omitempty"` // null: unknown
	Taken      []Slot    `json:"taken,omitempty"`        // the slots whose holders are known, in place of Holder
	allRead    bool      // the holders of all slots were read

	Readers int      `json:"readers,omitempty"` // that hold a read/write lock
	ReadBy  []Holder `json:"read_by,omitempty"` // the first of them, in place of Holder
	Writers int      `json:"writers,omitempty"` // processes that wait to write, and keep later readers out
}

// Holder is the holder of a resource, as the nodes report it.
type Holder struct {
	Instance string    `json:"instance"` // empty: the lock's value names none
	Never    bool      `json:"never_expires,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	CallSite string    `json:"call_site,omitempty"`
	TraceID  string    `json:"trace_id,omitempty"`
	Page     string    `json:"page,omitempty"`
	Fence    uint64    `json:"fence,string,omitempty"` // of an election: its term
}

// Waiter is a waiting process: its queue entry, and the calls that its page lists.
type Waiter struct {
	Instance string           `json:"instance,omitempty"` // empty: its queue entry does not tell yet
	Callers  int              `json:"callers"`            // of it that wait for the resource
	Waited   float64          `json:"waited_seconds"`     // by the one that has waited longest
	CallSite string           `json:"call_site,omitempty"`
	TraceID  string           `json:"trace_id,omitempty"`
	Holds    []lock.HeldLease `json:"holds,omitempty"`
	Page     string           `json:"page,omitempty"`
	OnNode   bool             `json:"on_node"`         // a node has it in its queue
	Calls    []Call           `json:"calls,omitempty"` // that its page lists: Callers says of how many
}

// Read is the result of reading a page.
type Read struct {
	Page     string   `json:"page"`
	Instance string   `json:"instance,omitempty"`        // whose it says it is
	Read     *float64 `json:"read_seconds"`              // ago; null: never
	Failing  *float64 `json:"failing_seconds,omitempty"` // since reads fail, for how long
	Error    string   `json:"error,omitempty"`           // why
}

func readsOf(pages []Page, now time.Time) []Read {
	all := make([]Read, 0, len(pages))
	for _, p := range pages {
		r := Read{Page: p.URL, Instance: p.Instance}
		if !p.Read.IsZero() {
			r.Read = ago(p.Read, now)
		}
		if p.Err != nil {
			r.Failing, r.Error = ago(p.Failing, now), p.Err.Error()
		}
		all = append(all, r)
	}
	return all
}

func ago(at, now time.Time) *float64 { return new(max(0, now.Sub(at)).Seconds()) }

func holderOf(l *listing.Lock) *Holder {
	if l == nil || l.Hold.Instance == "" && !l.Held() {
		return nil
	}
	h := l.Hold
	return &Holder{Instance: h.Instance, Never: l.TTL < 0, Since: h.Since, CallSite: h.CallSite, TraceID: TraceID(h.Traceparent),
		Page: h.Page, Fence: h.Fence}
}

// Slot is a slot of a semaphore that is in use.
type Slot struct {
	Slot     int     `json:"slot"`
	Holder   *Holder `json:"holder,omitempty"`    // null: unknown
	WaitsFor string  `json:"waits_for,omitempty"` // the resource that its holder waits for
}

// setConstruct says what a lock on the nodes is part of, and who holds the slots of a semaphore.
func (r *Resource) setConstruct(f *listing.WaitedFor) {
	of := f.Construct()
	r.Kind, r.Slots = of.Kind, of.Slots
	r.setReaders(f)
	if of.Kind != lock.KindSemaphore {
		return
	}
	held := f.Slots
	if r.allRead = held != nil; !r.allRead && f.Lock != nil && f.Lock.Held() {
		held = []listing.Lock{*f.Lock}
	}
	for i := range held {
		name := held[i].Resource
		if _, number, ok := records.ParseSlot(name); ok {
			slot := Slot{Slot: number, Holder: holderOf(&held[i])}
			if len(r.Chain) > 0 && name == f.Resource {
				slot.WaitsFor = r.Chain[0]
			}
			r.Taken = append(r.Taken, slot)
		}
	}
}

// setReaders says who reads a read/write lock, and how many processes wait to write.
func (r *Resource) setReaders(f *listing.WaitedFor) {
	r.Writers = f.Writers()
	if l := f.Lock; l != nil && l.Readers != nil && l.Hold.Kind == lock.KindRead {
		r.Readers, r.Holder = l.Readers.Count, nil
		for _, reader := range l.Readers.First {
			if h := holderOf(&listing.Lock{Hold: reader.Hold}); h != nil {
				r.ReadBy = append(r.ReadBy, *h)
			}
		}
	}
}

// joinSlots makes one resource of the slots of each semaphore: a caller that waits for one goes on with the first that
// is free, so neither a holder nor a chain is in the way of all.
func joinSlots(all []Resource) []Resource {
	type semaphore struct{ name, backend string }
	at := make(map[semaphore]int)
	joined := make([]Resource, 0, len(all))
	for _, r := range all {
		name, ok := records.SemaphoreOf(r.Resource)
		if !ok || r.Kind != lock.KindSemaphore {
			joined = append(joined, r)
			continue
		}
		r.Resource, r.Holder, r.Chain = name, nil, nil
		of := semaphore{name, r.Backend}
		if i, known := at[of]; known {
			joined[i].join(&r)
			continue
		}
		at[of] = len(joined)
		joined = append(joined, r)
	}
	for i := range joined {
		if r := &joined[i]; r.allRead {
			used := len(r.Taken)
			r.SlotsInUse = &used
		}
	}
	return joined
}

// join adds another slot of the same semaphore.
func (r *Resource) join(other *Resource) {
	for _, slot := range other.Taken {
		i := slices.IndexFunc(r.Taken, func(s Slot) bool { return s.Slot == slot.Slot })
		if i < 0 {
			r.Taken = append(r.Taken, slot)
		} else {
			r.Taken[i].WaitsFor = cmp.Or(r.Taken[i].WaitsFor, slot.WaitsFor)
		}
	}
	slices.SortFunc(r.Taken, func(a, b Slot) int { return cmp.Compare(a.Slot, b.Slot) })
	r.Waiting, r.Processes = r.Waiting+other.Waiting, r.Processes+other.Processes
	r.Longest, r.Slots = max(r.Longest, other.Longest), max(r.Slots, other.Slots)
	r.Waiters = append(r.Waiters, other.Waiters...)
	slices.SortStableFunc(r.Waiters, func(a, b Waiter) int { return cmp.Compare(b.Waited, a.Waited) })
	r.OnlyPages, r.allRead = r.OnlyPages && other.OnlyPages, r.allRead || other.allRead
}
