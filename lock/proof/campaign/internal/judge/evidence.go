//go:build linux

// Package judge finds in the files of a campaign what must not be, after it is over. No
// judge believes the lock: intervals are of one clock that all processes share, and only
// count for as long as it is certain that they do, so that what is found is so.
package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/ledger"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/site"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/worker"
)

// Worker is what one process has written down.
type Worker struct {
	Name   string
	Client int
	Killed bool  // before it could say how it ended
	To     int64 // when it was gone
	Failed string
	Events []history.Event
	Dumps  []worker.Dump
	Log    []Record

	stallsRead []history.Event
}

// Evidence is all there is of a campaign.
type Evidence struct {
	Began   int64 // instants are told from here
	Workers []*Worker
	Entries []ledger.Entry
	Left    []site.Leftover // locks on the nodes after all was over
	Unseen  error           // of nodes that were not looked at then
}

// Anomaly is something that must not be.
type Anomaly struct {
	Judge    string
	Resource string
	At       time.Duration // since the campaign began
	Text     string
}

func (a Anomaly) String() string {
	return fmt.Sprintf("%s: %s at %v: %s", a.Judge, a.Resource, a.At.Round(time.Microsecond), a.Text)
}

// Judges, in the order of their findings.
const (
	Exclusion = "exclusion"
	Fences    = "fences"
	Ledger    = "ledger"
	Losses    = "losses"
	Elections = "elections"
	Permits   = "permits"
	Sets      = "sets"
	ReadWrite = "readers and writers"
	Telemetry = "telemetry"
	Leaks     = "leaks"
	Flatness  = "flatness" // of a soak
	Views     = "views"    // of a soak
)

// Verdict is what the judges found.
type Verdict struct {
	Anomalies []Anomaly
	Leases    []*Lease
	Claims    map[history.Construct]int // how many of each were held
	Register  Register                  // what porcupine says of the ledger
}

// Judge looks at everything.
func Judge(e *Evidence) Verdict {
	c := &court{evidence: e}
	c.leases = c.allLeases()
	c.exclusion()
	c.fences()
	c.ledger()
	c.losses()
	claims := c.constructs()
	c.telemetry()
	c.leaks()
	r := c.register()
	return Verdict{Anomalies: c.found, Leases: c.leases, Claims: claims, Register: r}
}

// court collects what is found.
type court struct {
	evidence *Evidence
	leases   []*Lease
	found    []Anomaly
}

func (c *court) find(judge, resource string, at int64, format string, args ...any) {
	c.found = append(c.found, Anomaly{judge, resource, time.Duration(at - c.evidence.Began),
		fmt.Sprintf(format, args...)})
}

// at tells an instant as the report does.
func (c *court) at(t int64) time.Duration {
	return time.Duration(t - c.evidence.Began).Round(time.Microsecond)
}

// byResource groups leases; each group in the order of the grants.
func (c *court) byResource() [][]*Lease {
	groups := make(map[string][]*Lease)
	for _, l := range c.leases {
		groups[l.Resource] = append(groups[l.Resource], l)
	}
	var all [][]*Lease
	for _, g := range groups {
		slices.SortFunc(g, func(a, b *Lease) int { return int(a.Granted - b.Granted) })
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b []*Lease) int { return strings.Compare(a[0].Resource, b[0].Resource) })
	return all
}

// leaks are locks that nobody gave back, and goroutines of lockers that are closed.
func (c *court) leaks() {
	if c.evidence.Unseen != nil {
		c.find(Leaks, "", c.evidence.Began, "nodes were not looked at: %v", c.evidence.Unseen)
	}
	for _, l := range c.evidence.Left {
		c.find(Leaks, l.Key, c.evidence.Began, "it is still on %s, for %v", l.Node, l.Left)
	}
	for _, w := range c.evidence.Workers {
		if w.Failed != "" {
			c.find(Leaks, "", w.To, "%s failed: %s", w.Name, w.Failed)
		}
		done := slices.IndexFunc(w.Events, func(e history.Event) bool { return e.Kind == history.Done })
		switch {
		case done >= 0 && w.Events[done].Text != "":
			c.find(Leaks, "", w.Events[done].T, "%s left goroutines behind: %s", w.Name, w.Events[done].Text)
		case done < 0 && !w.Killed && w.Failed == "":
			c.find(Leaks, "", w.To, "%s ended without a word", w.Name)
		}
	}
}
