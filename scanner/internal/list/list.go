// Package list reads who holds which lock, over all nodes, and who waits for it. A [Lister] is its entry point
// (list.go). A reading is the state of one listing (reading.go). A pass goes through the keys of one source and asks
// the others (pass.go). lock.go combines their answers about a lock, and top.go keeps the first locks in order.
// Queues are read in separate passes (waits.go).
package list

import (
	"context"

	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Lister reads one listing.
type Lister struct{ reading *reading }

// New prepares a listing of the sources. The options must be complete.
func New(cfg *Settings, sources []*node.Source, o listing.Options) *Lister {
	return &Lister{newReading(cfg, sources, o)}
}

// Open finds the masters and reads the first page of each, which shows how pages can be read there. Call it first.
func (l *Lister) Open(ctx context.Context) { l.reading.open(ctx) }

// ReadLocks reads the remaining pages of all sources at once.
func (l *Lister) ReadLocks(ctx context.Context) { readPasses(ctx, l.reading) }

// ReadWaits goes through the keys of each master once, after its locks were read.
func (l *Lister) ReadWaits(ctx context.Context) *listing.Waits { return readWaits(ctx, l.reading) }

// Fill writes the result, and returns the errors of the nodes.
func (l *Lister) Fill(to *listing.Listing) []error { return l.reading.fill(to) }
