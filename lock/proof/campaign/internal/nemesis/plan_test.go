//go:build linux

package nemesis

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/site"
)

var size = site.Size{Nodes: 5, Clients: 5, Members: 5}

func TestSameSeedSamePlan(t *testing.T) {
	a, b := NewPlan(7, size, 10*time.Minute, Storm), NewPlan(7, size, 10*time.Minute, Storm)
	if !reflect.DeepEqual(a, b) {
		t.Error("one seed makes two plans")
	}
	if reflect.DeepEqual(a, NewPlan(8, size, 10*time.Minute, Storm)) {
		t.Error("two seeds make one plan")
	}
}

// TestPlanOfHalfAnHour has everything, often enough, and nothing that is not over in time.
func TestPlanOfHalfAnHour(t *testing.T) {
	const length = 30 * time.Minute
	plan := NewPlan(1, size, length, Storm)
	count := make(map[Kind]int)
	for i, f := range plan {
		count[f.Kind]++
		if i > 0 && f.At < plan[i-1].At {
			t.Errorf("fault %d begins before the one before it", i)
		}
		if f.At+f.For > length {
			t.Errorf("%s at %v is not over at %v", f.Kind, f.At, length)
		}
	}
	if len(plan) < 600 {
		t.Errorf("only %d faults", len(plan))
	}
	for _, k := range kinds {
		if count[k.name] < 5 {
			t.Errorf("%s only %d times", k.name, count[k.name])
		}
	}
	if count[Members] != 4 {
		t.Errorf("members change %d times, want 4", count[Members])
	}
}

// TestPlanOfASoak has a fault every half a minute or so, and leaves the members alone.
func TestPlanOfASoak(t *testing.T) {
	plan := NewPlan(1, site.Size{Nodes: 5, Clients: 200, Members: 5}, time.Hour, Every(30*time.Second))
	if n := len(plan); n < 90 || n > 180 {
		t.Errorf("%d faults in an hour", n)
	}
	for _, f := range plan {
		if f.Kind == Members {
			t.Errorf("members change at %v", f.At)
		}
	}
}

// TestPlanStaysWithinThePromise looks at every rule of README.md that the plan itself has to keep.
func TestPlanStaysWithinThePromise(t *testing.T) {
	for seed := range uint64(50) {
		members, changeEnds := size.Members, time.Duration(0)
		busy := make(map[int]time.Duration)
		for _, f := range NewPlan(seed, size, 15*time.Minute, Storm) {
			aboutNode := !slices.Contains([]Kind{Members, ClientStopped, ClientKilled, ClientStarved, ClockRate},
				f.Kind) && len(f.Links) == 0
			switch {
			case f.Kind == Members:
				members, changeEnds = f.Other, f.At+f.For
			case f.Kind == ClockRate && (f.Amount > maxRate || f.Amount < -maxRate):
				t.Errorf("seed %d: a clock runs wrong by %d parts in a billion", seed, f.Amount)
			case (f.Kind == FlushStep || f.Kind == RestartStep) && time.Duration(f.Amount).Abs() > maxStep:
				t.Errorf("seed %d: a clock is off by %v", seed, time.Duration(f.Amount))
			case f.Kind == Replica && f.Node == f.Other:
				t.Errorf("seed %d: a node follows itself", seed)
			}
			if !aboutNode {
				continue
			}
			if f.At < changeEnds {
				t.Errorf("seed %d: %s at %v, while the members change", seed, f.Kind, f.At)
			}
			if f.Node >= members {
				t.Errorf("seed %d: %s of node %d, which is no member", seed, f.Kind, f.Node)
			}
			if f.At < busy[f.Node] {
				t.Errorf("seed %d: %s at %v, while something else is done to the node", seed, f.Kind, f.At)
			}
			busy[f.Node] = f.At + f.For
		}
	}
}
