package profile

import (
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Profile is what a Recorder has added up until one moment, or between two.
type Profile struct {
	began, ended time.Time
	rows         map[key]sample
}

// ByWaiter returns the waits of calls that have returned, and of those under way.
func (r *Recorder) ByWaiter(now time.Time, underWay []Wait) *Profile {
	r.mu.Lock()
	p := &Profile{began: r.began, ended: now, rows: r.waiters.copy()}
	r.mu.Unlock()
	for _, w := range underWay {
		if w.Took < r.rate {
			continue // it may turn out not to be sampled
		}
		w.rows(func(k key, s sample) {
			sum := p.rows[k]
			sum.add(s)
			p.rows[k] = sum
		})
	}
	return p
}

// ByHolder returns the time that each holder has made others wait.
func (r *Recorder) ByHolder(now time.Time) *Profile {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Profile{began: r.began, ended: now, rows: r.holders.copy()}
}

// Since returns what was added after an earlier Profile of the same kind. A wait under way counts with the time that it
// took in between. It leaves out rows without a difference, and those that are smaller now, because they were added to
// others.
func (p *Profile) Since(earlier *Profile) *Profile {
	left := maps.Clone(p.rows)
	for k, before := range earlier.rows {
		s, ok := left[k]
		if !ok {
			continue
		}
		s = sample{max(s.count-before.count, 0), max(s.took-before.took, 0)}
		if left[k] = s; s == (sample{}) {
			delete(left, k)
		}
	}
	return &Profile{began: earlier.ended, ended: p.ended, rows: left}
}

// Sample is a row of a Profile for readers.
type Sample struct {
	Stack  []Frame // innermost first
	Of     text.ID
	Class  locktrace.Wait
	Holder string // instance
	Count  int64
	Took   time.Duration
}

// Frame is a line of a function, or a name that stands for one.
type Frame struct {
	Function, File string
	Line           int
}

// Began is when the first wait of the Profile can have begun.
func (p *Profile) Began() time.Time { return p.began }

// Ended is the moment of the Profile.
func (p *Profile) Ended() time.Time { return p.ended }

// Samples returns the rows in no order.
func (p *Profile) Samples() (all []Sample) {
	for k, s := range p.rows {
		all = append(all, Sample{
			Stack: k.frames(), Of: k.of, Class: k.class, Holder: k.Instance, Count: int64(math.Round(s.count)), Took: s.took,
		})
	}
	return all
}

// underWay stands for the part of a stack that is not known before the call returns.
const underWay = "(call under way)"

// frames of a holder are its call site, called by what it locks.
func (k key) frames() []Frame {
	switch {
	case k.kind == otherHolders:
		return []Frame{{Function: "(other holders)"}}
	case k.kind < otherHolders:
		return []Frame{k.frame(), {Function: Operation(k.of.Resource)}}
	case k.kind == otherWaiters:
		return []Frame{{Function: "(other waits)"}}
	case k.stack == nil && k.CallSite != "":
		return []Frame{site(k.CallSite), {Function: underWay}}
	case k.stack == nil:
		return []Frame{{Function: underWay}}
	case len(k.stack.pcs) == 0:
		return []Frame{{Function: "(other stacks)"}}
	}
	return k.stack.frames()
}

// frames leaves out the innermost frames, which are of this library and the same for all waits, unless there are no
// others.
func (s *Stack) frames() (all []Frame) {
	inner := 0
	frames := runtime.CallersFrames(s.pcs)
	for {
		f, more := frames.Next()
		if len(all) == inner && passedThrough(f.Function) {
			inner++
		}
		if f.Function != "runtime.goexit" {
			all = append(all, Frame{f.Function, f.File, f.Line})
		}
		if !more {
			break
		}
	}
	if inner < len(all) {
		all = all[inner:]
	}
	return all
}

func (h Holder) frame() Frame {
	switch {
	case h.kind == notKnown:
		return Frame{Function: "(no holder known yet)"}
	case h.kind != named:
		return Frame{Function: "(" + h.Name() + ")"}
	case h.CallSite == "":
		return Frame{Function: h.Instance + " (without lock.WithCallSites)"}
	}
	return site(h.CallSite)
}

// site is a call site, folder/file.go:line, as a function.
func site(callSite string) Frame {
	f := Frame{Function: callSite}
	if i := strings.LastIndexByte(callSite, ':'); i > 0 {
		f.Line, _ = strconv.Atoi(callSite[i+1:])
		f.File = callSite[:i]
	}
	return f
}

// library are the packages between a caller of Acquire and its wait.
var library = [...]string{
	"runtime.", "github.com/lockscope/lockscope/lock.", "github.com/lockscope/lockscope/lock/engine.",
	"github.com/lockscope/lockscope/lock/engine/internal/", "github.com/lockscope/lockscope/lock/decorate.",
	"github.com/lockscope/lockscope/lock/memlock.", "github.com/lockscope/lockscope/instrument.",
	"github.com/lockscope/lockscope/instrument/internal/", "github.com/lockscope/lockscope/exporter/live.",
	"github.com/lockscope/lockscope/exporter/live/internal/",
}

func passedThrough(function string) bool {
	return slices.ContainsFunc(library[:], func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}

// Operation is a resource without what numbers it: each part between separators is cut before its first digit, so that
// order:1001 and order:1002 are both order:*.
func Operation(resource string) string {
	var out strings.Builder
	cut := false
	for _, c := range resource {
		switch {
		case strings.ContainsRune(":/.#", c):
			cut = false
			out.WriteRune(c)
		case cut:
		case unicode.IsDigit(c):
			cut = true
			out.WriteByte('*')
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}
