package list

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner/listing"
)

// field is a reader in a lock's hash, whose time ends so long after at.
func field(at time.Time, token rune, holder string, began, ends time.Duration) [2]string {
	return [2]string{strings.Repeat(string(token), 32), fmt.Sprintf("%d:7|%s|%d||n|||read",
		at.Add(ends).UnixMilli(), holder, at.Add(began).UnixMilli())}
}

// TestJoinReaders: each reader has its own quorum and its own end, by the clock of each node.
func TestJoinReaders(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	s := time.Second
	node := func(ttl time.Duration, fields ...[2]string) nodeReaders {
		return nodeReaders{TTL: ttl, Fields: fields}
	}
	ahead := now.Add(time.Hour)
	for name, c := range map[string]struct {
		nodes  []nodeReaders
		silent int
		names  string // of those that hold the lock
		of     int    // nodes
		ttl    time.Duration
		last   time.Duration
	}{
		"two readers on all nodes": {[]nodeReaders{
			node(9*s, field(now, 'a', "a", -5*s, 9*s), field(now, 'b', "b", -9*s, 2*s)),
			node(9*s, field(now, 'a', "a", -5*s, 9*s), field(now, 'b', "b", -9*s, 2*s)),
			node(8*s, field(ahead, 'a', "a", -5*s, 8*s), field(ahead, 'b', "b", -9*s, 2*s)),
		}, 0, "b a", 3, 9 * s, 9 * s},
		"quorums that overlap": {[]nodeReaders{
			node(9*s, field(now, 'a', "a", -5*s, 9*s)),
			node(9*s, field(now, 'a', "a", -5*s, 9*s), field(now, 'b', "b", -9*s, 2*s)),
			node(2*s, field(now, 'b', "b", -9*s, 2*s)),
		}, 0, "b a", 2, 9 * s, 9 * s},
		"one is on a minority": {[]nodeReaders{
			node(9*s, field(now, 'a', "a", -5*s, 9*s), field(now, 'b', "b", -9*s, 2*s)),
			node(8*s, field(now, 'a', "a", -5*s, 8*s)),
			node(-1),
		}, 0, "a", 2, 8 * s, 9 * s},
		"its time is over, and the field is still there": {[]nodeReaders{
			node(9*s, field(now, 'a', "a", -5*s, 9*s), field(now, 'b', "b", -9*s, -s)),
			node(9*s, field(now, 'a', "a", -5*s, 9*s), field(now, 'b', "b", -9*s, -s)),
		}, 0, "a", 2, 9 * s, 9 * s},
		"a minority": {[]nodeReaders{node(9*s, field(now, 'a', "a", -5*s, 9*s)), node(-1), node(-1)}, 0, "", 1,
			0, 9 * s},
		"one of two, one is silent": {[]nodeReaders{node(9*s, field(now, 'a', "a", -5*s, 9*s)), node(-1)}, 1, "a",
			1, 9 * s, 9 * s},
	} {
		l := listing.Lock{Of: len(c.nodes), Silent: c.silent}
		if !l.SetReaders(joinReaders(c.nodes, l.Of, l.Silent, now)) {
			t.Errorf("%s: no readers", name)
			continue
		}
		var names []string
		if l.Readers != nil {
			for _, r := range l.Readers.First {
				names = append(names, r.Hold.Instance)
			}
		}
		if got := strings.Join(names, " "); got != c.names || l.Nodes != c.of || l.TTL != c.ttl || l.LongestTTL != c.last ||
			l.Hold.Kind != "read" || l.Hold.Fence != 7 || l.Held() != (c.names != "") {
			t.Errorf("%s: readers %q, %+v", name, got, l)
		}
	}
	foreign := nodeReaders{TTL: s, Fields: [][2]string{{"8743c9c0-0795-4907-87fd-6c719a6b4586:1", "1"}}}
	if all := joinReaders([]nodeReaders{foreign}, 1, 0, now); all != nil {
		t.Errorf("another library's hash: %+v", all)
	}
	if (&listing.Lock{}).SetReaders(nil) {
		t.Error("nobody holds the lock")
	}
}

// TestReadersAreBounded: all are counted, some are named.
func TestReadersAreBounded(t *testing.T) {
	const named = 16
	now := time.UnixMilli(1_700_000_000_000)
	n := nodeReaders{TTL: time.Minute}
	for i := range named + 4 {
		n.Fields = append(n.Fields, field(now, rune('a'+i%6), fmt.Sprint(i), -time.Duration(i)*time.Second, time.Minute))
		n.Fields[i][0] = fmt.Sprintf("%032x", i)
	}
	l := listing.Lock{Of: 1}
	l.SetReaders(joinReaders([]nodeReaders{n}, 1, 0, now))
	if l.Readers.Count != named+4 || len(l.Readers.First) != named || l.Readers.First[0].Hold.Instance != "19" {
		t.Errorf("%+v", l.Readers)
	}
}

// TestAReaderOnANodeThatGrantedLate: the node counted on from a later number, which the reader does not know. Its own record
// of what it holds has the lower one.
func TestAReaderOnANodeThatGrantedLate(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for late := range 3 {
		nodes := make([]nodeReaders, 3)
		for i := range nodes {
			f := field(now, 'a', "a", -time.Second, time.Minute)
			if i == late {
				f[1] = strings.Replace(f[1], ":7|", ":9|", 1)
			}
			nodes[i] = nodeReaders{TTL: time.Minute, Fields: [][2]string{f}}
		}
		if all := joinReaders(nodes, 3, 0, now); len(all) != 1 || all[0].Hold.Fence != 7 {
			t.Errorf("node %d: %+v", late, all)
		}
	}
}
