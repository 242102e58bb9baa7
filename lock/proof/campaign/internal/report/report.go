//go:build linux

// Package report tells of a campaign in Markdown: under which circumstances it ran, what
// was done, how long everything took meanwhile, and what the judges found.
package report

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/judge"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/nemesis"
)

// Campaign is what there is to tell.
type Campaign struct {
	Seed      uint64
	Length    time.Duration
	Began     time.Time
	Redis     string // version
	Clients   int
	Callers   int // of each client
	Nodes     int
	Resources int
	MaxTTL    time.Duration
	Evidence  *judge.Evidence
	Verdict   judge.Verdict
	Faults    []nemesis.Done
	Planned   int
	Rejected  int           // accesses to the ledger with an old fence
	LocksGone time.Duration // after the workers had ended
	Soak      *Soak         // nil unless it was one
}

// whenLayout is how a report says when its campaign began.
const whenLayout = "2006-01-02 15:04 UTC"

// Text is the report.
func Text(c Campaign) string {
	var b strings.Builder
	r := newReading(c)
	fmt.Fprintf(&b, "# Campaign, seed %d\n\n", c.Seed)
	fmt.Fprintf(&b, "**%s**\n\n", verdict(c))
	c.circumstances(&b)
	r.work(&b)
	r.faults(&b)
	c.Soak.write(&b)
	r.findings(&b)
	return b.String()
}

// verdict is one sentence.
func verdict(c Campaign) string {
	what := fmt.Sprintf("%s leases under %d faults in %v", thousands(len(c.Verdict.Leases)), carriedOut(c.Faults),
		c.Length.Round(time.Second))
	switch {
	case len(c.Verdict.Anomalies) > 0:
		return fmt.Sprintf("VIOLATED: %d anomalies in %s.", len(c.Verdict.Anomalies), what)
	case !c.Verdict.Register.Ok():
		return fmt.Sprintf("UNDECIDED: %s, and porcupine did not come to an end.", what)
	default:
		return fmt.Sprintf("HELD: no anomaly in %s.", what)
	}
}

func carriedOut(faults []nemesis.Done) (n int) {
	for _, f := range faults {
		if !f.Skipped && f.Err == "" {
			n++
		}
	}
	return n
}

func (c Campaign) circumstances(b *strings.Builder) {
	fmt.Fprintf(b, "| | |\n|---|---|\n")
	row := func(what, format string, args ...any) {
		fmt.Fprintf(b, "| %s | %s |\n", what, fmt.Sprintf(format, args...))
	}
	row("when", "%s, for %v", c.Began.UTC().Format(whenLayout), c.Length.Round(time.Second))
	row("machine", "%d cores, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, kernel())
	row("versions", "%s, redis-server %s, lockscope %s", runtime.Version(), c.Redis, commit())
	row("nodes", "%d redis-server processes, appendonly everysec, each with a wall clock of its own; MaxTTL %v",
		c.Nodes, c.MaxTTL)
	row("clients",
		"%d processes at a time, %d in all, %d callers each, on %d resources; a proxy on every way to a node",
		c.Clients, len(c.Evidence.Workers), c.Callers, c.Resources)
	target := "prove"
	if c.Soak != nil {
		target = "soak"
	}
	row("again", "`make %s FOR=%v SEED=%d`: the same plan of faults; what runs beside it is not of the seed", target,
		c.Length.Round(time.Second), c.Seed)
	fmt.Fprintln(b)
}

// Named is the campaign in one line, by which its report and the record of its code are told to be of the same.
func Named(began time.Time, seed uint64, length time.Duration) string {
	return fmt.Sprintf("%s, lockscope %s, seed %d, %v", began.UTC().Format(whenLayout), commit(), seed,
		length.Round(time.Second))
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown kernel"
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

// commit is that of the checkout, if this is one.
func commit() string {
	dir, err := os.Getwd()
	if err != nil {
		return "unknown"
	}
	out, err := exec.Command("git", "-C", dir, "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// reading is what the tables count.
type reading struct {
	Campaign
	acquires []acquire // by call
}

// acquire is one that has returned.
type acquire struct {
	client         int
	call, back     int64
	outcome        string
	noWait, handed bool
	waited         time.Duration
}

func newReading(c Campaign) *reading {
	r := &reading{Campaign: c}
	for _, w := range c.Evidence.Workers {
		calls := make(map[int64]int64)
		for _, e := range w.Events {
			switch e.Kind {
			case history.Call:
				calls[e.ID] = e.T
			case history.Return:
				r.acquires = append(r.acquires, acquire{
					client: w.Client, call: calls[e.ID], back: e.T, outcome: e.Outcome, noWait: e.NoWait,
					handed: e.HandedOver,
					waited: time.Duration(e.T - calls[e.ID]),
				})
			}
		}
	}
	sortBy(r.acquires, func(a acquire) int64 { return a.call })
	return r
}
