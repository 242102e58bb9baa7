package screen

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

const (
	// smallest is the height from which on nodes and rows both have room.
	smallest = 12
	// troubleLines is how much of the screen one trouble may take.
	troubleLines = 2
	maxTroubles  = 4
)

// Frame draws a snapshot: at most Height lines of at most Width columns.
func Frame(s *Snapshot, o Options) string {
	switch {
	case o.Help:
		return draw(helpLines(), &o)
	case o.Opened:
		return draw(detail(s, &o), &o)
	}
	above := append(append(title(s, &o), troubles(s, &o)...), summary(s, &o)...)
	below := foot(s, &o)
	rows := s.Rows(o.Order, o.Filter)
	if o.Height == 0 || o.Height >= smallest {
		above = append(above, nodes(s, &o, nodeRoom(s, &o, len(above)+len(below)))...)
		above = append(above, line{})
	}
	room := 0
	if o.Height > 0 {
		room = max(1, o.Height-len(above)-len(below))
	}
	lines := append(above, contended(s, rows, &o, room)...)
	return draw(filled(lines, below, &o), &o)
}

// filled has the lines below at the foot of the screen.
func filled(lines, below []line, o *Options) []line {
	if o.Height > 0 {
		for len(lines)+len(below) < o.Height {
			lines = append(lines, line{})
		}
		lines = lines[:max(0, min(len(lines), o.Height-len(below)))]
	}
	return append(lines, below...)
}

// nodeRoom is how many nodes may have a line: a third of the screen, and what the rows leave over.
func nodeRoom(s *Snapshot, o *Options, used int) int {
	if o.Height == 0 {
		return 1 << 20
	}
	rows := 0
	for i := range s.Sets {
		rows += len(s.Sets[i].Resources)
	}
	return max(o.Height/3-2, o.Height-used-rows-4-len(s.Sets))
}

// title is the first line.
func title(s *Snapshot, o *Options) []line {
	text := "lockscope top  " + s.At.Format("15:04:05")
	if o.Every > 0 {
		text += "  every " + o.Every.String() + "  by " + o.Order.String()
	}
	head := line{text, bold}
	if o.Paused {
		head = line{text + "  PAUSED: read " + ago(s.At, o.Now), yellow}
	}
	if o.Filter != "" && !o.Typing {
		head.text += "  filter: " + clean(o.Filter)
	}
	return []line{head}
}

// summary is who waits, because of whom, and what pages add.
func summary(s *Snapshot, o *Options) []line {
	lines := []line{waiting(s)}
	if b := s.WorstBlocker(); b.Callers > 0 {
		lines = append(lines, line{fmt.Sprintf("%s, which holds %s, keeps %s waiting", clean(b.Holder), clean(b.Resource),
			inspect.Count(b.Callers, "call")), plain})
	}
	return append(lines, rates(&s.Pages, o)...)
}

func waiting(s *Snapshot) line {
	callers, resources, longest := s.Sums()
	text, style := "Nobody waits for a lock", plain
	if resources > 0 {
		text, style = fmt.Sprintf("%s for %s, the longest for %s", plural(callers, "call waits", "calls wait"),
			inspect.Count(resources, "lock"), duration(longest)), bold
	}
	if n := s.Candidates(); n > 0 {
		text += "; " + candidates(n)
	}
	return line{text, style}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// rates are what only pages know. The flag that reads more of them is not cut: it names as many hosts as fit.
func rates(p *Pages, o *Options) (lines []line) {
	text := "last minute: acquired -  failed -  wait p99 -"
	if r := p.Recent; r != nil {
		text = fmt.Sprintf("last minute: acquired %.1f/s  failed %.1f/s  wait p99 %s", r.Acquired, r.Failed, duration(r.P99))
	}
	switch read := fmt.Sprintf("%d of %s", p.Answered, plural(p.Known, "page", "pages")); {
	case p.Known == 0:
		text += "  (no process names a page)"
	default:
		text += "  (" + read + ")"
	}
	lines = []line{{text, plain}}
	if more := "more pages: --pages '"; len(p.Hosts) > 0 {
		for i, host := range p.Hosts {
			if host = clean(host); i > 0 {
				host = "," + host
			}
			if i == 0 || o.Width == 0 || ui.Width(more+host+"'") <= o.Width {
				more += host
			}
		}
		lines = append(lines, line{more + "'", plain})
	}
	return lines
}

func troubles(s *Snapshot, o *Options) (lines []line) {
	all := s.Troubles()
	for i, text := range all {
		if o.Height > 0 && i == maxTroubles {
			lines = append(lines, line{fmt.Sprintf("and %d more", len(all)-i), red})
			break
		}
		for _, part := range wrap(clean(text), o.Width, troubleLines) {
			lines = append(lines, line{part, red})
		}
	}
	return lines
}

// foot is the chain of the selected row, and the keys.
func foot(s *Snapshot, o *Options) (lines []line) {
	if o.Every == 0 {
		return nil
	}
	if r := s.Find(o.Selected.Set, o.Selected.Name); r != nil {
		for _, part := range wrap(selectedText(r), o.Width, 2) {
			lines = append(lines, line{part, plain})
		}
	}
	if o.Typing {
		return append(lines, line{"filter: " + clean(o.Filter) + "_   (enter keeps it, esc clears it)", reverse})
	}
	keys := "q quit  up/down select  enter waiters  / filter  s sort  p pause  ? help"
	if o.Width > 0 && o.Width < len(keys) {
		keys = "q quit  ? help"
	}
	return append(lines, line{keys, dim})
}

func duration(d time.Duration) string {
	if d <= 0 {
		return ui.Unknown
	}
	return inspect.Short(d)
}

func ago(at, now time.Time) string {
	if at.IsZero() {
		return "never"
	}
	if now.Sub(at) < time.Second {
		return "just now"
	}
	return inspect.Short(now.Sub(at)) + " ago"
}

// latency is a duration that may be far below a millisecond.
func latency(d time.Duration) string {
	if d > 0 && d < time.Millisecond {
		return fmt.Sprintf("%.2fms", d.Seconds()*1000)
	}
	return duration(d)
}

// Wait is the frame before the first refresh has ended.
func Wait(o Options) string {
	return draw([]line{{"lockscope top", bold}, {"Asking the nodes ...   q quit", plain}}, &o)
}

// Options say what to draw, and on what.
type Options struct {
	Width, Height int  // 0: as wide or as high as it gets
	Color         bool // SGR codes may be used
	Now           time.Time
	Every         time.Duration // time between two refreshes; 0: there is one frame
	Order         Order
	Filter        string
	Typing        bool // the filter is being typed
	Paused        bool
	Help          bool
	Selected      Key
	Opened        bool // the waiters of Selected are shown
	Scroll        int  // first waiter shown
}

// Key identifies a row.
type Key struct{ Set, Name string }

// KeyOf is that of a row.
func KeyOf(r *fleet.Row) Key { return Key{r.Set, r.Name} }

// staleAfter is the age of a reading beyond which it is marked: two refreshes that it missed.
func (o *Options) staleAfter() time.Duration { return 2*o.Every + 3*time.Second }

// helpLines are the keys and the words of the table.
func helpLines() (lines []line) {
	for _, text := range []string{
		"Keys",
		"  up, down, j, k   select a lock        enter   its waiters        esc   back",
		"  pgup, pgdn       a page at a time     home, end   first and last",
		"  /   filter by name, holder or waiter; esc clears it",
		"  s   sort: callers x wait, longest wait, callers, name",
		"  p   pause        r   refresh now        ?   this page        q   quit",
		"",
		"Nodes",
		"  up           answers and may vote       quarantined   may have forgotten locks",
		"  barred       answers and may not vote   down          does not answer",
		"",
		"Locks that somebody waits for",
		"  WAITING        calls that wait            LONGEST   the longest of these waits",
		"  CLASS          why: holder, network, no_quorum, quarantined, backing_off",
		"  HELD           by the holder, so long     TTL       until it expires unless renewed",
		"  RATE           leases that ended a second, and HELD P99: from pages, - without",
		"  WAITS FOR      what the holder waits for, what the holder of that waits for, ...",
		"  name?          holds it if nodes that do not answer have the lock, too",
		"  ~              the row is stale: its nodes did not answer in time",
		"",
		"A process is shown once it has waited for a tenth of a second.",
		"",
		"any key: back",
	} {
		lines = append(lines, line{text, plain})
	}
	lines[0].style, lines[7].style, lines[11].style = bold, bold, bold
	return lines
}
