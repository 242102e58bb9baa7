package serve

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

const (
	// listEvery is the age at which a request refreshes the listing. Without requests,
	// nothing is read.
	listEvery = 5 * time.Second
	// listShare bounds the share of time spent listing, one part in so many: a forgotten page
	// costs a large Redis next to nothing, and is older there.
	listShare = 10
	// firstListing is how long the first request waits for it, and freshListing how long the first one after a quiet
	// time waits for another.
	firstListing, freshListing = 2 * time.Second, time.Second
)

// part is what was read of one set.
type part struct {
	set     string // empty: there is no other
	sources int    // that were to be read: nodes, or 1 cluster; 0: a system beside Redis
	listing.Listing
	votes fleet.Votes // see voted
	err   error       // why Waits were not read whole
}

// stateView makes of listings and of pings what /debug/locks shows.
type stateView struct {
	scanner  lockReader
	pings    *pings
	blocking *blocking
	instance string
	wanted   chan struct{} // holds one element while a request waits for a fresh listing

	mu      sync.Mutex
	next    chan struct{} // closed by the next listing
	listed  time.Time     // when the last listing ended; zero: there is none
	reading time.Duration // that it took
	parts   []part
}

func newStateView(s lockReader, p *pings, b *blocking) *stateView {
	host, _ := os.Hostname()
	return &stateView{
		scanner: s, pings: p, blocking: b, instance: cmp.Or(host, "unknown-host") + "/" + strconv.Itoa(os.Getpid()),
		wanted: make(chan struct{}, 1), next: make(chan struct{}),
	}
}

// loop lists whenever that is wanted, until ctx ends.
func (s *stateView) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wanted:
		}
		parts := s.scanner.List(ctx, listing.Options{Order: listing.ByAge, Limit: live.DefaultMaxShown, Waits: true})
		s.blocking.observe(ctx, parts, time.Now())
		took := time.Duration(0)
		for i := range parts {
			took = max(took, parts[i].Reading)
		}
		s.mu.Lock()
		s.parts, s.listed, s.reading = parts, time.Now(), took
		close(s.next)
		s.next = make(chan struct{})
		s.mu.Unlock()
		ui.Pause(ctx, listPause(took))
	}
}

// listPause is how long nothing is listed after a listing.
func listPause(reading time.Duration) time.Duration { return max(listEvery, (listShare-1)*reading) }

// State implements exporter.StateSource: from memory, save that the first caller
// waits a moment for a listing. Waiters are those of the newest look at them. Ages are those of when the nodes were read: a wait
// may be over by now, and a lease renewed.
func (s *stateView) State(ctx context.Context) state.State {
	parts := s.latest(ctx)
	now := time.Now()
	doc := state.State{
		At: now, Instance: s.instance, Nodes: s.pings.state(now),
		Waits: []state.WaitPoint{}, Slowest: []state.Acquisition{}, Read: fleet.ReadAgo(asSets(parts), now), // the holders are no newer
	}
	parts = s.pings.voted(s.blocking.newest(parts))
	doc.Held, doc.Omitted.Held = held(parts)
	doc.Waiting, doc.Omitted.Waiting = waiters(parts)
	for i := range parts {
		p := &parts[i]
		if p.Waits == nil {
			continue
		}
		doc.Blocked = append(doc.Blocked, p.blocked(doc.Waiting)...)
		for _, d := range p.Waits.Deadlocks {
			doc.Deadlocks = append(doc.Deadlocks, p.deadlock(d, s.blocking.found(p.set, d, now)))
		}
	}
	doc.CountSlots()
	if err := errors.Join(unlisted(parts), unread(parts)); err != nil {
		doc.Unread = err.Error()
	}
	return doc
}

// asSets are the parts as the page of all processes reads them.
func asSets(parts []part) []fleet.Set {
	sets := make([]fleet.Set, len(parts))
	for i, p := range parts {
		sets[i] = fleet.Set{Name: p.set, Waits: p.Waits, Votes: p.votes}
	}
	return sets
}

// latest is the last listing of each set. It also asks for fresh ones, and waits for those if none were read lately.
func (s *stateView) latest(ctx context.Context) []part {
	asks := false
	select {
	case s.wanted <- struct{}{}:
		asks = true
	default:
	}
	s.mu.Lock()
	next, patience := s.next, time.Duration(0)
	switch {
	case s.listed.IsZero():
		patience = firstListing
	case asks && time.Since(s.listed) > listPause(s.reading): // else it is not read at once
		patience = freshListing
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-next:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts
}

// held are the oldest, without locks that no majority of the nodes can have: nobody holds them.
func held(parts []part) (all []state.Held, omitted int) {
	all = []state.Held{}
	for i := range parts {
		omitted += int(parts[i].Omitted)
		for l := range parts[i].Locks {
			if k := &parts[i].Locks[l]; k.Held() {
				all = append(all, heldOn(parts[i].set, k))
			}
		}
	}
	if len(parts) > 1 {
		slices.SortStableFunc(all, func(a, b state.Held) int { return cmp.Compare(b.Age, a.Age) })
	}
	shown := min(len(all), live.DefaultMaxShown)
	return all[:shown], omitted + len(all) - shown
}

func heldOn(set string, k *listing.Lock) state.Held {
	h := state.Held{Resource: inspect.KeyText(k.Resource), Backend: set, Holder: k.Hold.Instance, Fence: k.Hold.Fence,
		Nodes: k.Nodes, Age: k.HeldFor().Seconds()}
	h.Validity, h.Construct = report.Seconds(k.TTL), construct(k.Construct())
	h.Reading = reading(k)
	return h
}

// lockReader is what a page and its metrics are made of.
type lockReader interface {
	Snapshot() scanner.Snapshot
	// List and Waits read each set. Parts that failed are missing: pings and logs have the reason.
	List(ctx context.Context, o listing.Options) []part
	Waits(ctx context.Context) []part
}

const (
	// readEvery is how often due pages are read, while requests come in.
	readEvery = time.Second
	// firstRead is how long the first request waits for the pages.
	firstRead = fleet.Timeout + time.Second
)

// fleetView makes of a listing and of the pages it names what /debug/locks/fleet shows.
// Without requests, it reads no page.
type fleetView struct {
	state  *stateView
	reader *fleet.Reader
	wanted chan struct{} // holds one element while a request waits for pages
	first  chan struct{} // closed once all pages were read, or have failed
}

// newFleetView is nil if no page may be read.
func newFleetView(s *stateView, p fleet.Policy) *fleetView {
	if p.Off() {
		return nil
	}
	return &fleetView{state: s, reader: fleet.NewReader(p), wanted: make(chan struct{}, 1), first: make(chan struct{})}
}

// loop reads pages whenever that is wanted, until ctx ends.
func (v *fleetView) loop(ctx context.Context) {
	var once sync.Once
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.wanted:
		}
		var pages []string
		for _, p := range v.state.latest(ctx) {
			pages = append(pages, fleet.Published(p.Listing)...)
		}
		slices.Sort(pages)
		v.reader.Read(ctx, slices.Compact(pages))
		once.Do(func() { close(v.first) })
		ui.Pause(ctx, readEvery)
	}
}

// document answers from memory, save that the first caller waits a moment for the pages.
func (v *fleetView) document(ctx context.Context) fleet.Document {
	select {
	case v.wanted <- struct{}{}:
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, firstListing+firstRead)
	defer cancel()
	select {
	case <-v.first:
	case <-ctx.Done():
	}
	parts := v.state.pings.voted(v.state.latest(ctx))
	pages, omitted := v.reader.Pages()
	now := time.Now()
	d := fleet.Merge(asSets(parts), pages, now)
	d.Instance, d.Omitted, d.Sets = v.state.instance, omitted, state.SetsOf(v.state.pings.state(now))
	if err := errors.Join(unlisted(parts), unread(parts)); err != nil {
		d.Unknown = err.Error()
	}
	return d
}
