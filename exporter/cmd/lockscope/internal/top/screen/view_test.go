package screen

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/scanner/listing"
)

var now = time.Date(2026, 11, 24, 2, 14, 7, 0, time.UTC)

// incident has two sets, one of them without a quorum, a deadlock, and so many resources with so many waiters.
func incident(resources, waiters int) *Snapshot {
	s := &Snapshot{At: now}
	for _, name := range []string{"eu", "us"} {
		set := Set{Name: name, Redlock: true, Read: now, Scan: Scan{Keys: 1_200_000, Done: 0.34,
			PassTime: 130 * time.Second}}
		for i := range 5 {
			n := Node{Name: fmt.Sprintf("10.0.%s.%d:6379", name, i), State: state.NodeUp, Answered: now,
				Latency: time.Millisecond}
			if name == "us" && i > 1 {
				n.State, n.Answered, n.Why = state.NodeDown, now.Add(-20*time.Second), "connection refused"
			}
			set.Nodes = append(set.Nodes, n)
		}
		for i := range resources {
			r := fleet.Row{Set: name, Name: fmt.Sprintf("order:%d", i), Callers: waiters, Processes: waiters,
				Longest: time.Minute, Class: "holder",
				Holder: heldBy("orders-1", i%4, 0),
				Chain:  []fleet.Link{{Resource: "stock", Holder: "stock-2", For: time.Second}}, Deadlock: i == 0}
			for w := range waiters {
				r.Waiters = append(r.Waiters, fleet.Process{Instance: fmt.Sprintf("truck-%d", w), Callers: 1})
			}
			set.Resources = append(set.Resources, r)
		}
		s.Sets = append(s.Sets, set)
	}
	s.Sets[0].Deadlocks = []string{`"order:0" (fence 1) waits for "stock" (fence 2) waits for "order:0"`}
	return s
}

// TestFrameFits whatever the terminal's size is, in colour and without.
func TestFrameFits(t *testing.T) {
	for _, s := range []*Snapshot{{At: now}, incident(0, 0), incident(1, 1), incident(300, 2), incident(1, 1000)} {
		for _, size := range [][2]int{{80, 24}, {200, 60}, {132, 43}, {40, 10}, {20, 5}, {3, 2}, {1, 1}} {
			for _, o := range []Options{
				{}, {Opened: true, Scroll: 990}, {Help: true}, {Filter: "order:29"}, {Typing: true, Filter: "x"},
				{Paused: true}, {Color: true},
			} {
				o.Width, o.Height, o.Now, o.Every = size[0], size[1], now, time.Second
				o.Selected = Key{"eu", "order:0"}
				frame := Frame(s, o)
				lines := strings.Split(frame, "\n")
				if len(lines) > o.Height {
					t.Errorf("%v %+v: %d lines", size, o, len(lines))
				}
				if last := lines[len(lines)-1]; o.Height >= 5 && !o.Help && !strings.Contains(last, "q quit") && !o.Typing {
					t.Errorf("%v %+v: the last line is %q", size, o, last)
				}
				for _, l := range lines {
					if !o.Color && ui.Width(l) > o.Width {
						t.Errorf("%v: %d columns: %q", size, ui.Width(l), l)
					}
				}
				if strings.Contains(frame, "\x1b") && !o.Color {
					t.Errorf("%v: codes without colour", size)
				}
			}
		}
	}
}

// TestFrameAt80x24 has what a person needs first.
func TestFrameAt80x24(t *testing.T) {
	frame := Frame(incident(300, 2), Options{Width: 80, Height: 24, Now: now, Every: 2 * time.Second,
		Selected: Key{"us", "order:150"}})
	t.Log("\n" + frame)
	for _, want := range []string{
		"NO QUORUM in us: 2 of 5 nodes vote, 3 needed: no lock", "DEADLOCK in eu", "10.0.us.3:6379", "20.0s ago",
		"slowest 1.0ms; 34% of 1.2M keys searched", "> order:150", "of 600", "q quit",
	} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not in\n%s", want, frame)
		}
	}
}

// heldBy is a lock that so many of five nodes have, for a minute by now.
func heldBy(instance string, nodes int, ttl time.Duration) *listing.Lock {
	l := &listing.Lock{Nodes: nodes, Of: 5, TTL: ttl, At: now}
	l.Hold.Instance, l.Hold.Since = instance, now.Add(-time.Minute)
	return l
}

func slotOf(name, instance string) fleet.HeldSlot {
	l := heldBy(instance, 5, 0)
	l.Resource = name
	return fleet.HeldSlot{Lock: *l}
}

// TestHealthyElection: nobody waits where candidates stand by.
func TestHealthyElection(t *testing.T) {
	s := incident(0, 0)
	s.Sets = s.Sets[:1]
	s.Sets[0].Deadlocks, s.Sets[0].Resources = nil, []fleet.Row{{Set: "eu", Name: "leader", Callers: 2, Processes: 2,
		Longest: time.Hour, Kind: lock.KindElection, Class: "holder", Holder: heldBy("billing-1", 5, 0)}}
	frame := Frame(s, Options{Width: 80, Height: 24, Now: now, Every: time.Second})
	if !strings.Contains(frame, "\nNobody waits for a lock; 2 candidates stand by\n") || strings.Contains(frame, "keeps") {
		t.Errorf("an election is an alarm in\n%s", frame)
	}
	frame = Frame(s, Options{Width: 80, Height: 24, Now: now, Opened: true, Selected: Key{"eu", "leader"}})
	if !strings.Contains(frame, "2 candidates stand by, of 2 processes, the longest for 1h00m") {
		t.Errorf("no candidates in\n%s", frame)
	}
}

// TestUnnamedHolder has one name at every width and in every line, and no column cuts it.
func TestUnnamedHolder(t *testing.T) {
	s := incident(0, 0)
	s.Sets = s.Sets[:1]
	s.Sets[0].Deadlocks = nil
	for _, name := range []string{"legacy:export", "legacy:a-name-that-takes-half-of-it"} {
		s.Sets[0].Resources = []fleet.Row{{Set: "eu", Name: name, Callers: 2, Processes: 2, Longest: time.Hour,
			Class: "holder", Kind: lock.KindSet, Holder: heldBy("", 5, -1)}}
		for _, o := range []Options{{}, {Opened: true}, {Every: time.Second}} {
			o.Width, o.Height, o.Now, o.Selected = 80, 24, now, Key{"eu", name}
			frame := Frame(s, o)
			for l := range strings.Lines(frame) {
				if (strings.Contains(l, "holds") || strings.Contains(l, "held by") || strings.Contains(l, " 1h00m  ")) &&
					!strings.Contains(l, "unnamed, never expires") {
					t.Errorf("another name in %q of\n%s", l, frame)
				}
			}
			if !strings.Contains(frame, "unnamed, never expires") {
				t.Errorf("no holder in\n%s", frame)
			}
		}
	}
}

// TestNothingToTypeIsCut: the flag fits in a line, with as many hosts as do. The TTL has its column at 80, also where a
// row is an election with a term of sixteen digits.
func TestNothingToTypeIsCut(t *testing.T) {
	s, leader := incident(0, 0), heldBy("billing-84cc-7d9f5/1", 5, 8*time.Second)
	leader.Hold.Fence = 1763700000123456
	s.Sets[0].Resources = []fleet.Row{{Set: "eu", Name: "billing:leader", Callers: 2, Kind: lock.KindElection,
		Longest: time.Hour, Holder: leader}}
	s.Pages = Pages{Known: 9, Recent: &Recent{Acquired: 1234.5, P99: time.Second},
		Hosts: []string{"orders.prod.svc.cluster.local", "billing.prod.svc.cluster.local", "stock.prod.svc"}}
	frame := Frame(s, Options{Width: 80, Height: 24, Now: now, Every: time.Second})
	for _, want := range []string{
		"(0 of 9 pages)\nmore pages: --pages 'orders.prod.svc.cluster.local,stock.prod.svc'\n", " TTL\n", " 8.0s\n", "  election  ",
	} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not in\n%s", want, frame)
		}
	}
	if wide := Frame(s, Options{Width: 160, Height: 24, Now: now}); !strings.Contains(wide, "term 1763700000123456") {
		t.Errorf("no term in\n%s", wide)
	}
}

func TestStaleIsMarked(t *testing.T) {
	s := incident(1, 1)
	s.Sets[0].Read = now.Add(-time.Minute)
	frame := Frame(s, Options{Width: 100, Height: 30, Now: now, Every: 2 * time.Second})
	if !strings.Contains(frame, "STALE: read 1m00s ago") || !strings.Contains(frame, "~order:0") {
		t.Errorf("nothing is stale in\n%s", frame)
	}
	if strings.Count(frame, "~") != 1 {
		t.Errorf("rows of the other set are stale in\n%s", frame)
	}
}

// TestHostileNames: no text of others reaches the terminal as it is, wherever it is shown.
func TestHostileNames(t *testing.T) {
	const hostile = "a\x1b[2J\x1b]0;x\a\u202eb\n\xffc"
	s := incident(1, 1)
	poison(reflect.ValueOf(s).Elem(), hostile)
	for i := range s.Sets {
		s.Sets[i].Nodes[0].State = state.NodeDown
	}
	for _, o := range []Options{
		{}, {Opened: true}, {Typing: true, Filter: hostile}, {Filter: hostile}, {Every: time.Second},
	} {
		o.Now, o.Selected = now, Key{hostile, hostile}
		frame := Frame(s, o)
		if strings.ContainsAny(frame, "\x1b\a\u202e") || !utf8.ValidString(frame) || strings.Contains(frame, "b\n\\x") {
			t.Errorf("%+v: it is shown as it is in %q", o, frame)
		}
		if !strings.Contains(frame, `\x1b[2J`) {
			t.Errorf("%+v: it is not shown at all", o)
		}
	}
}

// poison sets every text.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Field(i).CanSet() {
				poison(v.Field(i), text)
			}
		}
	}
}

func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"orders-7c9f8-abcde/17", 21, "orders-7c9f8-abcde/17"}, {"orders-7c9f8-abcde/17", 13, "orders…cde/17"},
		{"日本語日本語", 7, "日…語"}, {"abc", 2, "ab"}, {"", 0, ""},
	} {
		if got := middle(c.text, c.width); got != c.want || ui.Width(got) > c.width {
			t.Errorf("%s in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
