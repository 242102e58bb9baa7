package decorate_test

import (
	"errors"
	"math/rand"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// asked is a node and its clock.
type asked struct {
	decorate.NodeHealth
	now time.Time
}

func newAsked() *asked { return &asked{now: time.Unix(1e9, 0)} }

// done lets time pass and ends commands.
func (a *asked) done(after time.Duration, errs ...error) *asked {
	a.now = a.now.Add(after)
	for _, err := range errs {
		a.Done(a.now, locktrace.NodeEnd{Err: err})
	}
	return a
}

func (a *asked) wants(t *testing.T, what string, want decorate.NodeState, since time.Duration) {
	t.Helper()
	v := a.View(a.now)
	if v.State != want || since >= 0 && a.now.Sub(v.Since) != since || since < 0 && !v.Since.IsZero() {
		t.Errorf("%s: %s since %v, want %s for %v", what, v.State, a.now.Sub(v.Since), want, since)
	}
}

// TestNodeKnowledgeAges: a quarantine ends without a call, and nothing is said of a node that nobody asked for long.
func TestNodeKnowledgeAges(t *testing.T) {
	const unknown = time.Duration(-1)
	a := newAsked()
	a.wants(t, "not asked", decorate.NodeUnknown, unknown)
	a.done(0, nil).wants(t, "asked", decorate.NodeUp, 0)
	a.done(time.Second, &driver.QuarantineError{Left: 61 * time.Second}).wants(t, "restarted", decorate.NodeQuarantined, 0)
	a.done(60*time.Second).wants(t, "a second before the end", decorate.NodeQuarantined, 60*time.Second)
	a.done(9*time.Second).wants(t, "nobody called since", decorate.NodeUp, 8*time.Second)
	a.done(51*time.Second).wants(t, "two minutes later", decorate.NodeUp, 59*time.Second)
	a.done(time.Second).wants(t, "more than two minutes later", decorate.NodeUnknown, unknown)
	if v := a.View(a.now); a.now.Sub(v.Asked) != 121*time.Second {
		t.Errorf("it was asked %v ago", a.now.Sub(v.Asked))
	}
	a.done(0, driver.ErrQuarantined).wants(t, "a quarantine without an end", decorate.NodeQuarantined, 121*time.Second)
}

// TestNodeStates: a node is out after several failures in a row, and at once if it says so or was never heard.
func TestNodeStates(t *testing.T) {
	silent, oom := driver.ErrTimeout, errors.New("OOM command not allowed")
	newAsked().done(0, silent).wants(t, "never answered", decorate.NodeDown, 0)
	newAsked().done(0, oom).wants(t, "answers with an error only", decorate.NodeBarred, 0)
	newAsked().done(0, nil).done(0, driver.ErrReplica).wants(t, "a replica", decorate.NodeBarred, 0)
	newAsked().done(0, nil).done(40*time.Second, silent).wants(t, "asked rarely", decorate.NodeDown, 0)

	a := newAsked().done(0, nil, nil, nil).done(time.Second, silent, silent, silent, silent, silent)
	a.wants(t, "a second without an answer", decorate.NodeShaky, -1)
	a.done(time.Second, silent).wants(t, "two seconds without an answer", decorate.NodeDown, time.Second)
	a.done(time.Second, oom).wants(t, "it is back, with errors", decorate.NodeBarred, 2*time.Second)
	a.done(time.Second, nil).wants(t, "it is back: the outage counts no more", decorate.NodeUp, 0)
	if v := a.View(a.now); v.Calls != 1 || v.Failures != 0 {
		t.Errorf("after an outage: %+v", v)
	}
}

// TestAReleaseIsNoVote: a node that refuses every vote and releases is not back.
func TestAReleaseIsNoVote(t *testing.T) {
	a := newAsked().done(0, driver.ErrReplica)
	a.Done(a.now, locktrace.NodeEnd{NodeStart: locktrace.NodeStart{Op: lock.OpRelease}})
	a.wants(t, "a replica that releases", decorate.NodeBarred, 0)
	a.done(time.Second, nil).wants(t, "a master again", decorate.NodeUp, 0)
}

// TestShakyNodeDoesNotFlap: a node that fails some of its commands has one state, at every rate.
func TestShakyNodeDoesNotFlap(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  decorate.NodeState
	}{{0, decorate.NodeUp}, {.02, decorate.NodeUp}, {.13, decorate.NodeShaky}, {.4, decorate.NodeShaky}} {
		for _, every := range []time.Duration{10 * time.Millisecond, 200 * time.Millisecond, time.Second} {
			a, random := newAsked(), rand.New(rand.NewSource(1))
			changes, last := 0, c.want
			for began := a.now; a.now.Sub(began) < 10*time.Minute; {
				var err error
				if random.Float64() < c.share {
					err = driver.ErrTimeout
				}
				a.done(every, err)
				if state := a.View(a.now).State; a.now.Sub(began) > time.Minute && state != last {
					changes, last = changes+1, state
				}
			}
			if changes > 2 || last != c.want {
				t.Errorf("%v of commands fail, one each %v: %d changes in nine minutes, %s at last; want %s", c.share, every,
					changes, last, c.want)
			}
		}
	}
}
