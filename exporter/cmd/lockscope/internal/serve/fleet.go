package serve

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
)

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
