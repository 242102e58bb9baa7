package live

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// ProfileBy is what a Profile charges a wait to.
type ProfileBy string

const (
	// ByWaiter charges the stack that called Acquire, as Go's mutex and block profiles do.
	ByWaiter ProfileBy = "waiter"
	// ByHolder charges the holder: its call site, and the resource without numbers.
	ByHolder ProfileBy = "holder"
)

// ErrProfileOff means that a Board keeps no stacks: see WithProfileRate.
var ErrProfileOff = errors.New("live: profiles by waiter are off")

// Profile is where callers wait, for which holders and how long, since the Board was made or since an earlier Profile.
//
//	go tool pprof -top http://127.0.0.1:17379/debug/locks/profile
//
// A call is in a Profile by waiter if it waited between two attempts, or took 100 ms or longer. It counts once, with
// the time from its start to its return, or until now. Its stack is the one of its first wait. Until they return,
// "(call under way)" stands for the stacks of some calls: those of a Locker without hooks, and those for a resource
// whose waits were shorter than half of WithProfileRate a moment before.
//
// A Locker without hooks reports no waits: its slow calls have the class unknown.
//
// A Profile by holder has the time behind holders only, and each wait as many times as it began to wait behind another
// holder. A call site is known if the holder has lock.WithCallSites.
//
// A Profile does not change. It is safe for concurrent use.
type Profile struct{ p *profile.Profile }

// ProfileSample is the waits of one stack for one resource, class and holder.
type ProfileSample struct {
	// Stack is the caller of Acquire, innermost frame first. By holder, it is the call site of the holder, and the
	// resource without numbers as its caller. Names in parentheses stand for what is not known.
	Stack    []ProfileFrame
	Resource string
	Backend  string         // name of the set of nodes, if known
	Class    locktrace.Wait // or "unknown"
	Holder   string         // instance, if known
	Count    int64          // waits
	Delay    time.Duration
}

// ProfileFrame is a line of a function, or a name that stands for one.
type ProfileFrame struct {
	Function, File string
	Line           int
}

// Profile returns the waits of this Board up to now, including those of calls that have not returned. It waits for
// nothing. It returns ErrProfileOff for ByWaiter if WithProfileRate is 0, and ErrInvalidOption for an unknown by.
//
// Memory is bounded: 512 stacks, and 1,000 combinations of stack, resource, class and holder. Those that waited
// shortest are added up as "(other waits)" beyond it, or "(other holders)".
func (b *Board) Profile(by ProfileBy) (*Profile, error) {
	now, of := time.Now(), b.calls.Profile
	switch by {
	case ByWaiter:
		if !of.Stacks() {
			return nil, fmt.Errorf("%w: use live.WithProfileRate", ErrProfileOff)
		}
		return &Profile{of.ByWaiter(now, b.calls.UnderWay(now))}, nil
	case ByHolder:
		b.calls.UnderWay(now) // charges the holders
		return &Profile{of.ByHolder(now)}, nil
	}
	return nil, fmt.Errorf("%w: a profile by %q: use %q or %q", ErrInvalidOption, by, ByWaiter, ByHolder)
}

// Since returns what has been added after earlier, which must be an earlier Profile of the same Board by the same. Of a
// wait under way it has the time in between.
func (p *Profile) Since(earlier *Profile) *Profile { return &Profile{p.p.Since(earlier.p)} }

// Began is the start of the time that p covers.
func (p *Profile) Began() time.Time { return p.p.Began() }

// Ended is the end of the time that p covers.
func (p *Profile) Ended() time.Time { return p.p.Ended() }

// Samples returns the samples, in no order.
func (p *Profile) Samples() []ProfileSample {
	rows := p.p.Samples()
	all := make([]ProfileSample, len(rows))
	for i, r := range rows {
		all[i] = ProfileSample{
			Resource: r.Of.Resource, Backend: r.Of.Backend, Class: r.Class, Holder: r.Holder,
			Count: r.Count, Delay: r.Took,
		}
		for _, f := range r.Stack {
			all[i].Stack = append(all[i].Stack, ProfileFrame(f))
		}
	}
	return all
}
