package decorate_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestLine: three callers wait behind three successive holders, with an outage and a hand-over in between. The holders
// are charged with their own part, whenever callers come and go.
func TestLine(t *testing.T) {
	holder := func(instance string) *lock.HeldError {
		return &lock.HeldError{Holder: lock.Holder{Instance: instance, CallSite: "a.go:1"}}
	}
	var front *lock.HeldError
	var last error
	charged, waits := make(map[string]time.Duration), make(map[string]int)
	name := func(s decorate.Stretch) string {
		switch {
		case s.Class != locktrace.WaitHolder:
			return string(s.Class)
		case s.Blocker == nil:
			return "nobody"
		case s.Blocker.HandedOver:
			return "hand-over"
		}
		return s.Blocker.Holder.Instance
	}
	spent := make(map[string]time.Duration)
	line := decorate.NewLine(func(s decorate.LineStretch) {
		charged[name(s.Stretch)] += s.Took
		waits[name(s.Stretch)] += s.Waits
	}, func(s decorate.Stretch) { spent[name(s)] += s.Took })
	began := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	ask := func() (*lock.HeldError, error) { return front, last }
	changes := func(seconds int, to *lock.HeldError, err error) {
		front, last = to, err
		line.Look(at(seconds))
	}

	front = holder("a")
	line.Join(at(0), ask)
	line.Join(at(2), ask)
	changes(10, holder("b"), nil) // a: 10 + 8
	line.Join(at(11), ask)
	changes(12, holder("b"), nil) // another lease of the same code
	changes(13, nil, noQuorum)    // b: 3 + 3 + 2
	changes(15, &lock.HeldError{HandedOver: true}, nil)
	changes(16, holder("c"), nil)
	line.Leave(at(20))
	line.Leave(at(21))
	line.Charge(at(22)) // c: 4 + 5 + 6
	line.Leave(at(22))
	for what, got := range map[string][2]any{
		"charged": {charged, map[string]time.Duration{"a": 18e9, "b": 8e9, "no_quorum": 6e9, "hand-over": 3e9, "c": 15e9}},
		"spent":   {spent, map[string]time.Duration{"a": 10e9, "b": 3e9, "no_quorum": 2e9, "hand-over": 1e9, "c": 6e9}},
		"waits":   {waits, map[string]int{"a": 2, "b": 3, "no_quorum": 0, "hand-over": 0, "c": 3}},
	} {
		if !reflect.DeepEqual(got[0], got[1]) {
			t.Errorf("%s %v, want %v", what, got[0], got[1])
		}
	}
	if !line.Empty() {
		t.Error("all have left, but the line is not empty")
	}
}

// TestLineWithoutHolder: who leaves before any holder is known is not counted behind the next one.
func TestLineWithoutHolder(t *testing.T) {
	var front *lock.HeldError
	waits := 0
	line := decorate.NewLine(func(s decorate.LineStretch) { waits += s.Waits }, nil)
	ask := func() (*lock.HeldError, error) { return front, nil }
	now := time.Unix(1000, 0)
	line.Join(now, ask)
	line.Join(now, ask)
	line.Leave(now.Add(time.Second))
	front = &lock.HeldError{Holder: lock.Holder{Instance: "a"}}
	line.Look(now.Add(2 * time.Second))
	line.Leave(now.Add(3 * time.Second))
	if waits != 1 {
		t.Errorf("%d calls waited behind the holder, want 1", waits)
	}
}

// TestLineContainsPanics: of a driver's error. The class is empty then.
func TestLineContainsPanics(t *testing.T) {
	var got []decorate.LineStretch
	line := decorate.NewLine(func(s decorate.LineStretch) { got = append(got, s) }, nil)
	now := time.Unix(1000, 0)
	line.Join(now, func() (*lock.HeldError, error) { panic("driver") })
	line.Leave(now.Add(time.Second))
	if len(got) != 1 || got[0].Class != "" || got[0].Took != time.Second || got[0].Waits != 0 {
		t.Errorf("charged %+v", got)
	}
}
