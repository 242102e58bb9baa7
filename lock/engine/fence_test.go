package engine

import "testing"

// TestARunEndsWhereAQuorumsCountersEnd: the fence is the largest counter of the grants. The run holds only the fences
// above it that a quorum will not grant again.
func TestARunEndsWhereAQuorumsCountersEnd(t *testing.T) {
	type run struct{ first, fences uint64 }
	for name, c := range map[string]struct {
		grants      []run
		fence, last uint64
	}{
		"alike":         {[]run{{100, 64}, {100, 64}, {100, 64}}, 100, 163},
		"apart":         {[]run{{100, 64}, {110, 64}, {90, 64}}, 110, 163},
		"one alone":     {[]run{{100, 64}, {100, 1}, {100, 1}}, 100, 100},
		"two of three":  {[]run{{150, 14}, {100, 64}, {0, 0}}, 150, 163},
		"without a run": {[]run{{100, 1}, {100, 1}, {0, 0}}, 100, 100},
	} {
		a := &attempt{set: &set{quorum: 2}, grants: make([]grant, len(c.grants))}
		for i, g := range c.grants {
			if g.first > 0 {
				a.grants[i].granted(g.first, g.fences)
			}
		}
		if err := a.agreeOnFence(t.Context()); err != nil || a.raised {
			t.Errorf("%s: %v, raised %v", name, err, a.raised)
		}
		if a.fence != c.fence || a.lastFence() != c.last {
			t.Errorf("%s: %d to %d, want %d to %d", name, a.fence, a.lastFence(), c.fence, c.last)
		}
	}
}
