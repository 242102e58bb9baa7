package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
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
	Backend   string   `json:"backend,omitempty"`       // its set, if several are read; of one that is not read, the pages' name
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

// Slot is a slot of a semaphore that is in use.
type Slot struct {
	Slot     int     `json:"slot"`
	Holder   *Holder `json:"holder,omitempty"`    // null: unknown
	WaitsFor string  `json:"waits_for,omitempty"` // the resource that its holder waits for
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

// only is what the set is called that is read alone: what processes call their nodes by default.
const only = "redis"

// Merge makes one document of the [Rows] of sets and of pages. Of calls that pages list, it has all. A set without a
// name is the only one.
func Merge(sets []Set, pages []Page, now time.Time) Document {
	d := Document{Schema: 1, At: now.UTC(), Deadlocks: []string{}, Resources: []Resource{}, Pages: readsOf(pages, now)}
	unnamed := ""
	if len(sets) == 1 && sets[0].Name == "" {
		unnamed, sets = only, []Set{{Name: only, Waits: sets[0].Waits, Votes: sets[0].Votes}}
	}
	d.Read = ReadAgo(sets, now)
	for _, s := range sets {
		if s.Waits == nil {
			continue
		}
		for _, text := range Deadlocks(s.Waits) {
			if unnamed == "" {
				text = s.Name + ": " + text
			}
			d.Deadlocks = append(d.Deadlocks, text)
		}
	}
	rows := Rows(sets, pages)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Weight(), a.Weight()) })
	for i := range rows {
		d.Resources = append(d.Resources, rows[i].document(unnamed))
	}
	return d
}

// ReadAgo is for how many seconds all waits are known that were read; nil: none were.
func ReadAgo(sets []Set, now time.Time) (longest *float64) {
	for _, s := range sets {
		if s.Waits == nil {
			continue
		}
		if read := ago(s.Waits.At, now); longest == nil || *read > *longest {
			longest = read
		}
	}
	return longest
}

// document leaves out the name of the only set.
func (r *Row) document(unnamed string) Resource {
	d := Resource{Resource: inspect.KeyText(r.Name), Waiting: r.Callers, Processes: r.Processes, Longest: r.Longest.Seconds(),
		Waiters: make([]Waiter, 0, len(r.Waiters)), OnlyPages: r.OnlyPages, Kind: r.Kind, Slots: r.Slots, Readers: r.Readers, Writers: r.Writers}
	if r.Set != unnamed {
		d.Backend = r.Set
	}
	if r.Kind == lock.KindSemaphore && r.InUse >= 0 {
		d.SlotsInUse = &r.InUse
	}
	if r.Readers == 0 {
		d.Holder = holderOf(r.Holder)
	}
	for _, l := range r.Chain {
		d.Chain = append(d.Chain, l.Resource)
	}
	for i := range r.Taken {
		d.Taken = append(d.Taken, Slot{Slot: r.Taken[i].Number(), Holder: holderOf(&r.Taken[i].Lock), WaitsFor: r.Taken[i].WaitsFor})
	}
	for i := range r.ReadBy {
		d.ReadBy = append(d.ReadBy, *holderOf(&r.ReadBy[i]))
	}
	for _, w := range r.Waiters {
		of := Waiter{Instance: w.Instance, Callers: w.Callers, Waited: w.Waited.Seconds(), Holds: w.Holds, Page: w.Page,
			OnNode: w.OnNode, Calls: w.Calls}
		if w.OnNode { // else its calls say it
			of.CallSite, of.TraceID = w.CallSite, w.TraceID
		}
		d.Waiters = append(d.Waiters, of)
	}
	return d
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
	if l == nil {
		return nil
	}
	h := l.Hold
	return &Holder{Instance: h.Instance, Never: l.TTL < 0, Since: h.Since, CallSite: h.CallSite, TraceID: TraceID(h.Traceparent),
		Page: h.Page, Fence: h.Fence}
}

// Handler serves documents as JSON, a new one for each request.
func Handler(document func(context.Context) Document) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "read-only: use GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		body, err := json.Marshal(document(r.Context()))
		if err != nil {
			http.Error(w, "cannot encode the document as JSON", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(append(body, '\n')) // the client has gone: nobody to tell
	})
}
