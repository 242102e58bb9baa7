package question

import (
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// TestPeekAnswers: which answers decide, and what they amount to. h and g are holders, with their counters; x is a node
// that failed, w one that has not answered.
func TestPeekAnswers(t *testing.T) {
	at := time.Now()
	held := func(holder string, counter uint64, ttl time.Duration) answer {
		return answer{Answered: true, At: at, Reply: driver.PeekReply{
			Held: true, Holder: holder + "|0|", Counter: counter, TTL: ttl,
		}}
	}
	h := func(counter uint64, seconds int) answer {
		return held("h", counter, time.Duration(seconds)*time.Second)
	}
	g, free := held("g", 9, time.Second), answer{Answered: true}
	down := driver.ErrUnreachable
	x, w := answer{Answered: true, Err: down}, answer{Err: driver.ErrTimeout}
	for name, c := range map[string]struct {
		nodes   []answer
		decided bool
		holder  string // "" if undecided, "-" if free
		fence   uint64
		ends    int // seconds
	}{
		"one node, held":              {[]answer{h(5, 3)}, true, "h", 5, 3},
		"one node, free":              {[]answer{free}, true, "-", 0, 0},
		"one node, down":              {[]answer{x}, true, "", 0, 0},
		"a quorum agrees":             {[]answer{h(5, 3), h(5, 4), w}, true, "h", 5, 4},
		"its counters differ":         {[]answer{h(5, 3), h(7, 4), w}, false, "h", 5, 4},
		"and the third is down":       {[]answer{h(5, 3), h(7, 4), x}, true, "h", 5, 4},
		"and the third is known":      {[]answer{h(5, 3), h(7, 4), h(9, 5)}, true, "h", 7, 4},
		"free on a quorum":            {[]answer{free, free, w}, true, "-", 0, 0},
		"free but for another's vote": {[]answer{free, h(5, 3), g}, true, "-", 0, 0},
		"free on two, one is wiped":   {[]answer{free, h(5, 3), free}, true, "-", 0, 0},
		"the third would decide":      {[]answer{free, h(5, 3), w}, false, "", 0, 0},
		"the third is down":           {[]answer{free, h(5, 3), x}, true, "", 0, 0},
		"two are down":                {[]answer{h(5, 3), x, x}, true, "", 0, 0},
		"all differ, one is down":     {[]answer{h(5, 3), g, x}, true, "", 0, 0},
		"half of four are free":       {[]answer{free, free, w, w}, true, "-", 0, 0},
		"half of four are held":       {[]answer{h(5, 3), h(5, 3), free, free}, true, "-", 0, 0},
		"three of four":               {[]answer{h(5, 3), h(6, 4), h(7, 5), x}, true, "h", 6, 4},
		"one never expires":           {[]answer{h(5, 3), held("h", 5, -1), x}, true, "h", 5, 0},
	} {
		p := answers{resource: "job", quorum: len(c.nodes)/2 + 1, nodes: c.nodes}
		if got := p.decided(); got != c.decided {
			t.Errorf("%s: decided %v", name, got)
		}
		s, err := p.sighting()
		holder := map[bool]string{true: s.Holder.Instance, false: "-"}[s.Held]
		if err != nil {
			holder = ""
		}
		if holder != c.holder || s.Fence != c.fence {
			t.Errorf("%s: holder %q with fence %d, %v; want %q with %d", name, holder, s.Fence, err, c.holder, c.fence)
		}
		want := time.Time{}
		if c.ends > 0 {
			want = at.Add(time.Duration(c.ends) * time.Second)
		}
		if !s.NotAfter.Equal(want) {
			t.Errorf("%s: not after %v, want %d s", name, s.NotAfter.Sub(at), c.ends)
		}
	}
}

// TestPeekErrorNamesTheNodes: what each did, and their errors.
func TestPeekErrorNamesTheNodes(t *testing.T) {
	free := answer{Node: "r1", Answered: true}
	held := answer{Node: "r2", Answered: true, Reply: driver.PeekReply{Held: true}}
	down := answer{Node: "r3", Answered: true, Err: driver.ErrUnreachable}
	p := answers{resource: "job", quorum: 2, nodes: []answer{free, held, down}}
	_, err := p.sighting()
	want := "lock: job: no quorum for peek: 1 of 3 nodes agree, 2 needed (r1: same answer; r2: another answer; " +
		`r3: node cannot be reached). Check the nodes with "lockscope doctor".`
	if err == nil || err.Error() != want || !errors.Is(err, lock.ErrNoQuorum) || !errors.Is(err, driver.ErrUnreachable) {
		t.Errorf("%v\nwant %s", err, want)
	}
}
