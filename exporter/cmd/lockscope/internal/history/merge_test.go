package history

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// pageOf serves a document that change makes of a sound one, for the span that is asked for.
func pageOf(t *testing.T, instance string, change func(d *state.WaitHistory)) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := time.Parse(time.RFC3339, r.URL.Query().Get("from"))
		to, _ := time.Parse(time.RFC3339, r.URL.Query().Get("to"))
		d := state.WaitHistory{
			Instance: instance, From: from, To: to, CompleteFrom: from, Waited: 40, Bucket: 10, Buckets: 4,
			Classes: []state.WaitedClass{{Class: "holder", Waited: 40, Buckets: []int{0, 30, 10, 0}}},
			Blockers: []state.PastBlocker{{Holder: "bill-1", CallSite: "bill/run.go:7", Waited: 40, First: from, Last: to,
				Resources: []state.WaitedPart{{Resource: "order", Waited: 40}}, Of: 1,
				Waiters: []state.WaitedPart{{Instance: instance, Waited: 40}}, Buckets: []int{0, 30, 10, 0}}},
			Resources: []state.PastResource{{Resource: "order", Waited: 40, Classes: map[string]int{"holder": 40},
				Buckets: []int{0, 30, 10, 0}}},
		}
		if change != nil {
			change(&d)
		}
		_ = json.NewEncoder(w).Encode(d)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestMerge: rows of one name add up; a process under two addresses counts once.
func TestMerge(t *testing.T) {
	twice := pageOf(t, "web-1", nil)
	pages := []string{twice, strings.Replace(twice, "127.0.0.1", "localhost", 1), pageOf(t, "web-2", nil),
		pageOf(t, "web-3", func(d *state.WaitHistory) {
			d.Blockers[0].Holder, d.Blockers[0].Waited = "stock-1", 100
			d.CompleteFrom = d.From.Add(15 * time.Second)
		})}
	o := command(t, "--from", "-40s", "--page", strings.Join(pages, ","), "-o", "json")
	var r report
	o.Decode(t, &r)
	if r.Waited != 120 || len(r.Blockers) != 2 || r.Blockers[0].Holder != "stock-1" || r.Blockers[1].Waited != 80 ||
		r.Blockers[1].Buckets[1] != 60 || len(r.Blockers[1].Waiters) != 2 || r.Blockers[1].Of != 1 ||
		r.Blockers[1].Resources[0].Waited != 80 {
		t.Errorf("%d s, blockers %+v", r.Waited, r.Blockers)
	}
	if p := r.Blockers[0].Process; p != nil {
		t.Errorf("no page is of stock-1, and its process waits for %+v", p)
	}
	if len(r.Resources) != 1 || r.Resources[0].Classes["holder"] != 120 || r.Classes[0].Buckets[2] != 30 {
		t.Errorf("resources %+v, classes %+v", r.Resources, r.Classes)
	}
	if len(r.Pages) != 4 || r.read() != 4 || !r.CompleteFrom.Equal(r.From.Add(15*time.Second)) {
		t.Errorf("pages %+v, complete from %v", r.Pages, r.CompleteFrom)
	}
	text := command(t, "--from", "-40s", "--page", strings.Join(pages, ","))
	text.Want(t, app.ExitIncomplete, "3 processes: 2m00s of waiting, up to 9 calls at a time", "counted once",
		"stock-1 at bill/run.go:7", " @")
}

// TestNamesOfNobody: a holder that is not known and a waiter without a name are called what the live page calls them.
func TestNamesOfNobody(t *testing.T) {
	page := pageOf(t, "web-1", func(d *state.WaitHistory) {
		d.Blockers[0].Holder, d.Blockers[0].CallSite = "", ""
		d.Blockers[0].Waiters[0] = state.WaitedPart{Waited: d.Blockers[0].Waited}
	})
	o := command(t, "--from", "-40s", "--page", page)
	if row := regexp.MustCompile(`(?m)^holder unknown .* unnamed$`); !row.MatchString(o.Out) {
		t.Errorf("no row of a holder that is not known, and a waiter that is unnamed:\n%s", o.Out)
	}
}

// TestMeanwhile: the holder's own page says what its process waited for at the same time.
func TestMeanwhile(t *testing.T) {
	billing := pageOf(t, "bill-1", func(d *state.WaitHistory) {
		d.Blockers[0].Holder, d.Blockers[0].Resources = "stock-1", []state.WaitedPart{{Resource: "stock", Waited: 40}}
		d.Resources[0].Resource, d.Resources[0].Buckets = "stock", []int{25, 15, 0, 0}
	})
	o := command(t, "--from", "-40s", "--page", pageOf(t, "web-1", nil)+","+billing, "-o", "json")
	var r report
	o.Decode(t, &r)
	for _, b := range r.Blockers {
		want := 0
		if b.Holder == "bill-1" {
			want = 15
		}
		if got := len(b.Process); got > 0 != (want > 0) || got > 0 && (b.Process[0].Resource != "stock" ||
			b.Process[0].Waited != want) {
			t.Errorf("the process of %s waited for %+v", b.Holder, b.Process)
		}
	}
	command(t, "--from", "-40s", "--page", pageOf(t, "web-1", nil)+","+billing).Want(t, app.ExitClean,
		"order; its process waited for stock")
}

// TestHostilePages: a page may say anything, and its answer is refused or cut to size.
func TestHostilePages(t *testing.T) {
	good := pageOf(t, "web-1", nil)
	for name, change := range map[string]func(d *state.WaitHistory){
		"negative":          func(d *state.WaitHistory) { d.Blockers[0].Waited = -1 },
		"few buckets":       func(d *state.WaitHistory) { d.Classes[0].Buckets = nil },
		"many buckets":      func(d *state.WaitHistory) { d.Buckets = 1 << 30 },
		"negative bucket":   func(d *state.WaitHistory) { d.Resources[0].Buckets[0] = -5 },
		"another span":      func(d *state.WaitHistory) { d.From = d.From.Add(time.Second) },
		"nobody":            func(d *state.WaitHistory) { d.Instance = "" },
		"other buckets":     func(d *state.WaitHistory) { d.Bucket = 11 },
		"too much to count": func(d *state.WaitHistory) { d.Waited = 1 << 62 },
	} {
		o := command(t, "--from", "-40s", "--page", good+","+pageOf(t, "evil", change))
		o.Want(t, app.ExitIncomplete, "was not read: ")
		if name != "other buckets" { // whichever comes first has the others differ
			o.Want(t, app.ExitIncomplete, "the answer is not from a lockscope page", "bill-1")
		}
	}
	control := pageOf(t, "evil\x1b[2J", func(d *state.WaitHistory) {
		d.Blockers[0].Holder = "bill\n\u202e1" + strings.Repeat("x", 5000)
		for i := range 500 {
			b := d.Blockers[0]
			b.Holder = fmt.Sprint(i)
			d.Blockers = append(d.Blockers, b)
		}
	})
	o := command(t, "--from", "-40s", "--page", control)
	o.WantNot(t, "\x1b", "\u202e", strings.Repeat("x", 2000))
	o.Want(t, app.ExitClean, `bill\n\u202e1`, "and 40 more holders")
}

func TestLevels(t *testing.T) {
	for _, c := range []struct{ n, most, want int }{{0, 10, 0}, {1, 1000, 1}, {1000, 1000, 8}, {500, 1000, 4}} {
		if got := level(c.n, c.most, 8); got != c.want {
			t.Errorf("level(%d, %d) = %d, want %d", c.n, c.most, got, c.want)
		}
	}
	var b strings.Builder
	r := report{Bucket: 10, Buckets: 60, Waited: 60,
		Classes: []state.WaitedClass{{Class: "no_quorum", Waited: 60, Buckets: make([]int, 60)}}}
	r.Classes[0].Buckets[59] = 60
	strip(&b, &r, nil, 80)
	for line := range strings.Lines(b.String()) {
		if len([]rune(line)) > 80 {
			t.Errorf("too wide for the terminal: %q", line)
		}
	}
	if !strings.Contains(b.String(), "no quorum") || !strings.Contains(b.String(), "@  1m00s, 100%") {
		t.Errorf("%s", b.String())
	}
}

// TestSlotsAreOneRow: calls that waited for slots of one semaphore, on two pages, are one row. A lock with the name of
// a slot keeps its own.
func TestSlotsAreOneRow(t *testing.T) {
	slots := func(instance string, names ...string) string {
		return pageOf(t, instance, func(d *state.WaitHistory) {
			p := d.Resources[0]
			d.Resources = nil
			for _, name := range names {
				p.Resource, p.Kind, p.Slots = name, "semaphore", 5
				d.Resources = append(d.Resources, p)
			}
			p.Resource, p.Kind, p.Slots = "pool#3", "", 0
			p.Backend = instance
			d.Resources = append(d.Resources, p)
		})
	}
	pages := []string{slots("web-1", "pool#0", "pool#4"), slots("web-2", "pool#1")}
	o := command(t, "--from", "-40s", "--page", strings.Join(pages, ","))
	o.Want(t, app.ExitClean, "pool (semaphore, 5 slots)", "pool#3 ")
	o.WantNot(t, "pool#0")
	var r report
	command(t, "--from", "-40s", "--page", strings.Join(pages, ","), "-o", "json").Decode(t, &r)
	if len(r.Resources) != 3 || r.Resources[0].Resource != "pool" || r.Resources[0].Waited != 120 {
		t.Errorf("%+v", r.Resources)
	}
}
