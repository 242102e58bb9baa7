package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/discover"
)

// laidOut is what one system beside Redis has.
type laidOut struct {
	inspector inspect.Inspector
	layouts   inspect.Libraries
	found     []discover.Found // surest first
	failed    bool
}

// layouts asks all systems, one after the other.
func (f *discoverFlags) layouts(ctx context.Context, others []servers.Other) (all []laidOut, err error) {
	for _, b := range others {
		layouts, failed := b.Libraries(ctx, f.sample)
		o := laidOut{inspector: b, layouts: layouts, found: surestFirst(layouts.Found), failed: failed != nil}
		err = errors.Join(err, failed)
		all = append(all, o)
	}
	return all, err
}

func surestFirst(libraries []inspect.Library) []discover.Found {
	all := make([]discover.Found, 0, len(libraries))
	for _, l := range libraries {
		all = append(all, discover.Found{Library: discover.Library(l.Name), Pattern: l.Pattern, Keys: l.Keys, NoTTL: l.NoTTL,
			Example: l.Example, Evidence: l.Evidence, Confidence: l.Confidence})
	}
	slices.SortFunc(all, func(a, b discover.Found) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Keys, a.Keys),
			cmp.Compare(a.Library, b.Library), cmp.Compare(a.Pattern, b.Pattern))
	})
	return all
}

func (o *laidOut) rows() (rows [][]string) {
	for i := range o.found {
		f := &o.found[i]
		rows = append(rows, append([]string{o.inspector.System()}, foundRow(o.inspector.Address(), f, neverText(f))...))
	}
	return rows
}

// neverText says how many never expire: TTLs are not read here.
func neverText(f *discover.Found) string {
	switch f.NoTTL {
	case 0:
		return ui.Unknown
	case f.Keys:
		return "never"
	}
	return fmt.Sprintf("%d never", f.NoTTL)
}

func (o *laidOut) summary() string {
	l := &o.layouts
	text := looked(o.inspector.Address(), fmt.Sprintf("%d %s (all)", l.Read.N, l.Read.What), l.Whole, o.failed, len(o.found))
	for _, note := range l.Notes {
		text += o.inspector.Address() + ": " + ui.Printable(note) + "\n"
	}
	return text
}
