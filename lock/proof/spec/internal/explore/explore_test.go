package explore

import (
	"errors"
	"slices"
	"testing"
)

// jugs are the well-known two, of three and five litres, from which four must not be got.
type jugs struct{}

func (jugs) Start() [2]int             { return [2]int{} }
func (jugs) Canonical(s [2]int) [2]int { return s }
func (jugs) Violation(s [2]int) (v string) {
	if s[1] == 4 {
		v = "four litres"
	}
	return v
}

func (jugs) Steps(s [2]int, each func(Step, [2]int)) {
	size := [2]int{3, 5}
	for i := range s {
		full, empty, poured := s, s, s
		full[i], empty[i] = size[i], 0
		room := min(s[i], size[1-i]-s[1-i])
		poured[i], poured[1-i] = s[i]-room, s[1-i]+room
		each(Step{Text: "{n} is filled", Node: i}, full)
		each(Step{Text: "{n} is emptied", Node: i}, empty)
		each(Step{Text: "{n} is poured into {m}", Node: i, From: 1 - i}, poured)
	}
}

func TestExploreFindsAShortestWay(t *testing.T) {
	r, err := Explore[[2]int](jugs{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"node B is filled", "node B is poured into node A", "node A is emptied",
		"node B is poured into node A", "node B is filled", "node B is poured into node A",
	}
	if r.Violation != "four litres" || r.Depth != len(want) || !slices.Equal(r.Trace, want) {
		t.Errorf("%+v", r)
	}
}

func TestExploreFailsAtItsLimit(t *testing.T) {
	if r, err := Explore[[2]int](jugs{}, 5); !errors.Is(err, ErrLimit) || r.States <= 5 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAfterRefusesWhatCannotHappen(t *testing.T) {
	if _, err := After[[2]int](jugs{}, "node B is filled", "node C is filled"); err == nil {
		t.Error("no error")
	}
}

// More states than one piece of memory and the first table hold.
func TestStatesAreKeptOnce(t *testing.T) {
	set := newStates[int]()
	for i := range 3 * chunk {
		if !set.add(i) || set.add(i/2) {
			t.Fatalf("%d", i)
		}
	}
	if set.count() != 3*chunk || set.at(chunk+1) != chunk+1 {
		t.Errorf("%d states, %d", set.count(), set.at(chunk+1))
	}
}
