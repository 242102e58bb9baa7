package list

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/scanner"
)

// reading asks one system. There is a part whatever the error is.
type reading func(context.Context) (part, error)

// part is what one system told.
type part struct {
	system   string
	tellsTTL bool
	listing  scanner.Listing
	waits    waits
	coverage *coverage // nil where that is not known
}

// entry is a lock, and where it is.
type entry struct {
	scanner.Lock
	in *part
}

// listing is what all systems told.
type listing struct {
	started   time.Time
	took      time.Duration
	parts     []*part
	locks     []entry
	omitted   int64
	truncated bool
}

// read asks all systems at the same time.
func (f *listFlags) read(ctx context.Context, reads []reading) (*listing, error) {
	l := &listing{started: time.Now(), parts: make([]*part, len(reads))}
	errs := make([]error, len(reads))
	var all sync.WaitGroup
	for i, read := range reads {
		all.Go(func() {
			p, err := read(ctx)
			l.parts[i], errs[i] = &p, err
		})
	}
	all.Wait()
	l.took = time.Since(l.started)
	if len(l.parts) == 1 && l.parts[0].system == target.System {
		l.started, l.took = l.parts[0].listing.Started, l.parts[0].listing.Took
	}
	f.merge(l)
	return l, errors.Join(errs...)
}

// merge makes one list of all parts, in one order and of one length.
func (f *listFlags) merge(l *listing) {
	for _, p := range l.parts {
		for _, k := range p.listing.Locks {
			l.locks = append(l.locks, entry{k, p})
		}
		l.omitted += p.listing.Omitted
		l.truncated = l.truncated || p.listing.Truncated
	}
	slices.SortStableFunc(l.locks, f.comparison())
	if limit := cmp.Or(f.limit, scanner.DefaultListLimit); len(l.locks) > limit {
		l.omitted += int64(len(l.locks) - limit)
		l.locks = l.locks[:limit]
	}
}

// comparison is that of scanner.Order, over all systems: what is not known comes last.
func (f *listFlags) comparison() func(a, b entry) int {
	var compare func(a, b entry) int
	switch scanner.Order(f.sort) {
	case scanner.ByAge:
		compare = func(a, b entry) int { return cmp.Compare(b.age(), a.age()) }
	case scanner.ByResource:
		compare = func(a, b entry) int { return strings.Compare(a.Resource, b.Resource) }
	default:
		compare = func(a, b entry) int { return cmp.Compare(b.left(), a.left()) }
	}
	whole := func(a, b entry) int {
		return cmp.Or(compare(a, b), strings.Compare(a.Key, b.Key), strings.Compare(a.in.system, b.in.system))
	}
	if f.reverse {
		return func(a, b entry) int { return whole(b, a) }
	}
	return whole
}

func (k *entry) left() time.Duration {
	switch {
	case !k.in.tellsTTL:
		return -1
	case k.TTL < 0:
		return math.MaxInt64
	}
	return k.TTL
}

func (k *entry) age() int64 {
	if k.Hold.Since.IsZero() {
		return math.MinInt64
	}
	return -k.Hold.Since.UnixNano()
}

// readBackend reads another system than Redis, and keeps what is asked for.
func (f *listFlags) readBackend(b backend.Backend) reading {
	return func(ctx context.Context) (part, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, f.deadline, errListTruncated)
		defer cancel()
		wanted := f.filterFunc()
		locks, w, err := backend.Read(ctx, b)
		locks = slices.DeleteFunc(locks, func(l scanner.Lock) bool { return !wanted(l.Resource) })
		w.Locks = slices.DeleteFunc(w.Locks, func(q scanner.WaitedFor) bool { return !wanted(q.Resource) })
		p := part{system: b.System(), tellsTTL: b.TellsTTL(), waits: waits{w}}
		p.listing = scanner.Listing{Locks: locks, Truncated: err != nil}
		p.listing.Nodes = []scanner.ListedNode{{Node: b.Address(), Locks: int64(len(locks)), Truncated: err != nil, Err: err}}
		return p, err
	}
}

// filterFunc is --filter as Redis matches names.
func (f *listFlags) filterFunc() func(string) bool {
	o := f.listOptions()
	if o.Glob == "" {
		return func(resource string) bool { return strings.Contains(resource, o.Contains) }
	}
	matches, err := regexp.Compile(globExpression(o.Glob))
	if err != nil {
		return func(resource string) bool { return resource == o.Glob } // as [z-a]: Redis takes the ends for each other
	}
	return matches.MatchString
}

var (
	globElement = regexp.MustCompile(`(?s)\\.|\[\^?(?:\\.|[^\]\\])*\]|.`)
	inGlobClass = regexp.MustCompile(`(?s)\\.|\[`)
)

// globExpression is a regular expression that matches what a glob pattern of Redis does.
func globExpression(glob string) string {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for _, e := range globElement.FindAllString(glob, -1) {
		switch {
		case e == "*":
			b.WriteString(".*")
		case e == "?":
			b.WriteString(".")
		case len(e) > 1 && e[0] == '[':
			b.WriteString("[" + inGlobClass.ReplaceAllStringFunc(e[1:], func(c string) string {
				return fmt.Sprintf(`\x{%x}`, c[len(c)-1])
			}))
		case len(e) > 1: // escaped
			b.WriteString(regexp.QuoteMeta(e[1:]))
		default:
			b.WriteString(regexp.QuoteMeta(e))
		}
	}
	return b.String() + `\z`
}
