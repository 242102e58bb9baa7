package discover

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/discover"
)

// looked is what one server of Redis has, or one system beside it.
type looked struct {
	backend, node string
	redis         servers.Node     // zero for other systems
	found         []discover.Found // surest first
	read          inspect.Counted
	whole         bool // that is everything
	failed        bool // before all of it was read
	notes         []string
}

// ofRedis samples the keys of a server.
func ofRedis(ctx context.Context, n servers.Node, o discover.Options) (looked, error) {
	r, err := discover.Sample(ctx, n.Client, o)
	if err != nil {
		err = fmt.Errorf("%s: %w", n.Name, err)
	}
	return looked{backend: servers.Redis, node: n.Name, redis: n, found: r.Found,
		read: inspect.Counted{What: "keys", N: int(r.Sampled)}, whole: r.Whole, failed: err != nil}, err
}

// ofSystem asks a system beside Redis.
func ofSystem(ctx context.Context, in inspect.Inspector, sample int) (looked, error) {
	all, err := in.Libraries(ctx, sample)
	l := looked{backend: in.System(), node: in.Address(), read: all.Read, whole: all.Whole, failed: err != nil,
		notes: all.Notes}
	for _, f := range all.Found {
		l.found = append(l.found, discover.Found{Library: discover.Library(f.Name), Pattern: f.Pattern, Keys: f.Keys,
			NoTTL: f.NoTTL, Example: f.Example, Evidence: f.Evidence, Confidence: f.Confidence})
	}
	slices.SortFunc(l.found, func(a, b discover.Found) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Keys, a.Keys),
			cmp.Compare(a.Library, b.Library), cmp.Compare(a.Pattern, b.Pattern))
	})
	return l, err
}

// besideRedis reports whether it is a system beside Redis.
func (l *looked) besideRedis() bool { return l.backend != servers.Redis }

// ttlText says when the locks of a library expire: TTLs are read on Redis alone.
func (l *looked) ttlText(f *discover.Found) string {
	switch {
	case !l.besideRedis():
		return ttlRange(f)
	case f.NoTTL == 0:
		return ui.Unknown
	case f.NoTTL == f.Keys:
		return "never"
	}
	return fmt.Sprintf("%d never", f.NoTTL)
}

// summary says how much was looked at.
func (l *looked) summary() (text string) {
	much, whole := inspect.Count(l.read.N, "key"), " (all keys)"
	if l.besideRedis() {
		much, whole = fmt.Sprintf("%d %s", l.read.N, l.read.What), " (all)"
	}
	if !l.whole {
		whole = " (a sample; raise it with --sample)"
	}
	switch {
	case l.failed && (l.besideRedis() || l.read.N == 0):
		text = l.node + ": not read\n"
	case len(l.found) == 0:
		text = l.node + ": looked at " + much + whole + "; found no lock of a known library\n"
	default:
		text = l.node + ": looked at " + much + whole + "\n"
	}
	for _, note := range l.notes {
		text += l.node + ": " + ui.Printable(note) + "\n"
	}
	return text
}
