// Package list reads who holds which lock, over all nodes, and who waits for it. A [Lister] is
// its door (list.go). A reading has the state of one listing (reading.go); a pass goes
// through the keys of one source and asks the others (pass.go), what they say of a lock is
// put together by lock.go, and the first locks of an order are kept (top.go). Queues are read
// in passes of their own (waits.go).
package list

import (
	"context"

	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Lister reads one listing.
type Lister struct{ reading *reading }

// New makes ready a listing of the sources. The options are complete.
func New(cfg *Settings, sources []*node.Source, o listing.Options) *Lister {
	return &Lister{newReading(cfg, sources, o)}
}

// Open finds the masters and reads the first page of each, which tells how pages
// can be read there. It comes first.
func (l *Lister) Open(ctx context.Context) { l.reading.open(ctx) }

// ReadLocks reads the pages that are left, of all sources at once.
func (l *Lister) ReadLocks(ctx context.Context) { readPasses(ctx, l.reading) }

// ReadWaits goes through the keys of each master once, after its locks were read.
func (l *Lister) ReadWaits(ctx context.Context) *listing.Waits { return readWaits(ctx, l.reading) }

// Fill writes the result, and returns the nodes' errors.
func (l *Lister) Fill(to *listing.Listing) []error { return l.reading.fill(to) }
