package profile

import (
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock/locktrace"
)

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
	for k, s := range p.waiters {
		all = append(all, s.of(Sample{Stack: k.frames(), Of: k.of, Class: k.class, Holder: k.instance}))
	}
	for k, s := range p.holders {
		all = append(all, s.of(Sample{
			Stack: k.frames(), Of: k.of, Class: locktrace.WaitHolder, Holder: k.holder.Instance,
		}))
	}
	return all
}

func (s sample) of(row Sample) Sample {
	row.Count, row.Took = int64(math.Round(s.count)), s.took
	return row
}

// underWay stands for the part of a stack that is not known before the call returns.
const underWay = "(call under way)"

func (k waiterKey) frames() []Frame {
	switch {
	case k.other:
		return []Frame{{Function: "(other waits)"}}
	case k.stack == nil && k.callSite != "":
		return []Frame{site(k.callSite), {Function: underWay}}
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

// frames are the call site of a holder, called by what it locks.
func (k holderKey) frames() []Frame {
	if k.other {
		return []Frame{{Function: "(other holders)"}}
	}
	return []Frame{k.holder.frame(), {Function: Operation(k.of.Resource)}}
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
