package serve

import (
	"cmp"
	"context"
	"os"
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

// stateView makes of a listing and of pings what /debug/locks shows.
type stateView struct {
	scanner  lockReader
	pings    *pings
	blocking *blocking
	instance string
	wanted   chan struct{} // holds one element while a request waits for a fresh listing

	mu      sync.Mutex
	next    chan struct{} // closed by the next listing
	listed  time.Time     // when the last listing ended; zero: there is none
	listing listing.Listing
	votes   fleet.Votes // at the time of the listing
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
		// Parts that failed are missing from the page; pings and logs have the reason.
		all, _ := s.scanner.List(ctx, listing.Options{Order: listing.ByAge, Limit: live.DefaultMaxShown, Waits: true})
		s.blocking.observe(ctx, all.Waits, time.Now())
		v := s.pings.votes(ctx)
		s.mu.Lock()
		s.listing, s.votes, s.listed = all, v, time.Now()
		close(s.next)
		s.next = make(chan struct{})
		s.mu.Unlock()
		ui.Pause(ctx, listPause(all.Reading))
	}
}

// listPause is how long nothing is listed after a listing.
func listPause(reading time.Duration) time.Duration { return max(listEvery, (listShare-1)*reading) }

// State implements exporter.StateSource: from memory, save that the first caller
// waits a moment for a listing. Waiters are those of the newest look at them. Ages are those of when the nodes were read: a wait
// may be over by now, and a lease renewed.
func (s *stateView) State(ctx context.Context) state.State {
	listing, v := s.latest(ctx)
	now := time.Now()
	read := listing.Waits
	listing.Waits = s.blocking.newest(read)
	waiting, omitted := waiters(listing.Waits, v)
	doc := state.State{
		At: now, Instance: s.instance, Held: held(listing), Nodes: s.pings.state(now),
		Waiting: waiting, Waits: []state.WaitPoint{}, Slowest: []state.Acquisition{},
		Omitted: state.Omitted{Held: int(listing.Omitted), Waiting: omitted},
	}
	if listing.Waits != nil {
		g := graph{listing.Waits, v}
		doc.Blocked, doc.Deadlocks = g.blocked(waiting), g.deadlocks()
		for i, d := range g.Waits.Deadlocks {
			doc.Deadlocks[i].Found = s.blocking.found(d, now)
		}
	}
	if read != nil { // the holders are no newer
		doc.Read = new(max(0, now.Sub(read.At)).Seconds())
	}
	doc.CountSlots()
	if err := unread(listing.Waits); err != nil {
		doc.Unread = err.Error()
	}
	return doc
}

// latest is the last listing. It also asks for a fresh one, and waits for that if none was read lately.
func (s *stateView) latest(ctx context.Context) (listing.Listing, fleet.Votes) {
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
	case asks && time.Since(s.listed) > listPause(s.listing.Reading): // else it is not read at once
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
	return s.listing, s.votes
}

// held leaves out locks that no majority of the nodes can have: nobody holds them.
func held(l listing.Listing) []state.Held {
	all := make([]state.Held, 0, len(l.Locks))
	for i := range l.Locks {
		k := &l.Locks[i]
		if !k.Held() {
			continue
		}
		h := state.Held{Resource: inspect.KeyText(k.Resource), Holder: k.Hold.Instance, Fence: k.Hold.Fence,
			Nodes: k.Nodes,
			Age:   k.HeldFor().Seconds()}
		h.Validity, h.Construct = report.Seconds(k.TTL), construct(k.Construct())
		h.Reading = reading(k)
		all = append(all, h)
	}
	return all
}

// lockReader is what a page and its metrics are made of.
type lockReader interface {
	Snapshot() scanner.Snapshot
	List(ctx context.Context, o listing.Options) (listing.Listing, error)
	Waits(ctx context.Context) (*listing.Waits, error)
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
		listing, _ := v.state.latest(ctx)
		v.reader.Read(ctx, fleet.Published(listing))
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
	listing, _ := v.state.latest(ctx)
	pages, omitted := v.reader.Pages()
	now := time.Now()
	d := fleet.Merge(listing.Waits, pages, now)
	d.Instance, d.Omitted, d.Sets = v.state.instance, omitted, state.SetsOf(v.state.pings.state(now))
	if err := unread(listing.Waits); err != nil {
		d.Unknown = err.Error()
	}
	return d
}
