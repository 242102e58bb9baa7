package serve

import (
	"context"

	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
)

// lockReader is what a page and its metrics are made of.
type lockReader interface {
	Snapshot() scanner.Snapshot
	List(ctx context.Context, o listing.Options) (listing.Listing, error)
	Waits(ctx context.Context) (*listing.Waits, error)
}
