//go:build linux

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/judge"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/nemesis"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/worker"
)

// work is what the clients did.
func (r *reading) work(b *strings.Builder) {
	outcomes, handed := make(map[string]int), 0
	for _, a := range r.acquires {
		word := cmp.Or(a.outcome, "acquired")
		if a.outcome == "held" && a.noWait {
			word = "held (did not wait)"
		}
		outcomes[word]++
		if a.handed {
			handed++
		}
	}
	fmt.Fprintf(b, "## What was done\n\n%s acquires returned: ", thousands(len(r.acquires)))
	var parts []string
	for _, word := range slices.SortedFunc(maps.Keys(outcomes),
		func(x, y string) int { return outcomes[y] - outcomes[x] }) {
		parts = append(parts, fmt.Sprintf("%s %s", word, thousands(outcomes[word])))
	}
	fmt.Fprintf(b, "%s. %s leases a second; %s were handed over inside a process.\n", strings.Join(parts, ", "),
		thousands(int(float64(len(r.Verdict.Leases))/r.Length.Seconds())), thousands(handed))

	events := make(map[history.Kind]int)
	ends := make(map[string]int)
	killed := 0
	for _, w := range r.Evidence.Workers {
		if w.Killed {
			killed++
		}
		for _, e := range w.Events {
			events[e.Kind]++
			if e.Kind == history.Ended {
				ends[e.Outcome]++
			}
		}
	}
	fmt.Fprintf(b,
		"Leases ended: released %s, lost %s, reached MaxHold %s, by their caller's context %s; %s of processes that "+
			"were killed.\n",
		thousands(ends["released"]), thousands(ends["lost"]), thousands(ends["max_hold"]), thousands(ends["caller"]),
		thousands(len(r.Verdict.Leases)-events[history.Ended]))
	fmt.Fprintf(b, "Rounds of renewal: %s. Restarts of nodes, as told to %d processes (%d of them killed): %s.\n",
		thousands(events[history.Renewed]), len(r.Evidence.Workers), killed, thousands(events[history.Restart]))
	fmt.Fprintf(b,
		"The ledger accepted %s updates and rejected %s accesses with an old fence; of %s writes their worker never "+
			"heard.\n\n",
		thousands(len(r.Evidence.Entries)), thousands(r.Rejected), thousands(r.Verdict.Register.Unknown))
}

// row is a kind of fault.
type row struct {
	kind    nemesis.Kind
	count   int
	skipped int
	failed  int
	on      time.Duration
	waits   []time.Duration // of acquires that got the lock
	none    int             // acquires that found no quorum
	lost    []*judge.Lease
}

// shortest is for how long an instant, like FLUSHALL, is taken to be a fault.
const shortest = 2 * time.Second

// lookBack is longer than an acquire takes.
const lookBack = int64(10 * time.Second)

// faults is the table of what was done and how the clients fared meanwhile.
func (r *reading) faults(b *strings.Builder) {
	rows := make(map[nemesis.Kind]*row)
	lost := r.losses()
	total := &row{kind: "all"}
	for _, f := range r.Faults {
		one := rows[f.Kind]
		if one == nil {
			one = &row{kind: f.Kind}
			rows[f.Kind] = one
		}
		switch {
		case f.Skipped:
			one.skipped++
			continue
		case f.Err != "":
			one.failed++
			continue
		}
		one.count++
		one.on += time.Duration(f.To - f.From)
		f.To = max(f.To, f.From+int64(shortest))
		r.during(one, f, lost)
	}
	fmt.Fprint(b,
		"## Faults\n\nAcquires that overlap a fault, or the two seconds from its beginning, of the clients that it "+
			"concerns; waits are of those that got the lock. "+
			"\"Signal\" is how long after the end of validity the loss was signalled, in all and without the time in "+
			"which the process did not run.\n\n")
	fmt.Fprintln(b,
		"| fault | times | on | acquires | no quorum | wait p50 | p99 | max | lost | signal max | of it running |")
	fmt.Fprintln(b, "|---|---|---|---|---|---|---|---|---|---|---|")
	for _, one := range slices.SortedFunc(maps.Values(rows),
		func(x, y *row) int { return cmp.Or(y.count-x.count, cmp.Compare(x.kind, y.kind)) }) {
		one.write(b)
		total.count, total.skipped, total.failed, total.on = total.count+one.count, total.skipped+one.skipped,
			total.failed+one.failed, total.on+one.on
	}
	whole := nemesis.Done{From: r.Evidence.Began, To: r.Evidence.Began + int64(r.Length)}
	r.during(total, whole, lost)
	total.write(b)
	fmt.Fprintf(b, "\n%d faults were planned, one every %v. ", r.Planned,
		(r.Length / time.Duration(max(total.count, 1))).Round(10*time.Millisecond))
	if total.skipped > 0 {
		fmt.Fprintf(b, "%d were not possible when they were due (nothing to copy from, nobody to hold back). ",
			total.skipped)
	}
	fmt.Fprint(b, "\n")
	for _, f := range r.Faults {
		if f.Err != "" {
			fmt.Fprintf(b, "- %s at %v could not be done: %s\n", f.Kind,
				time.Duration(f.From-r.Evidence.Began).Round(time.Millisecond), oneLine(f.Err))
		}
	}
	fmt.Fprintln(b)
}

// losses are the leases that were lost, by the instant of the signal.
func (r *reading) losses() (lost []*judge.Lease) {
	for _, l := range r.Verdict.Leases {
		if l.Ended != nil && l.Ended.Outcome == "lost" {
			lost = append(lost, l)
		}
	}
	sortBy(lost, func(l *judge.Lease) int64 { return l.Ended.T })
	return lost
}

// during adds what happened during a fault. Acquires that end in one of the next faults of
// the kind count there, too.
func (r *reading) during(one *row, f nemesis.Done, lost []*judge.Lease) {
	concerns := func(client int) bool { return len(f.Clients) == 0 || slices.Contains(f.Clients, client) }
	first, _ := slices.BinarySearchFunc(r.acquires, f.From-lookBack,
		func(a acquire, t int64) int { return cmp.Compare(a.call, t) })
	for _, a := range r.acquires[first:] {
		if a.call > f.To {
			break
		}
		if a.back < f.From || !concerns(a.client) {
			continue
		}
		switch a.outcome {
		case "":
			one.waits = append(one.waits, a.waited)
		case "no_quorum":
			one.none++
		}
	}
	first, _ = slices.BinarySearchFunc(lost, f.From,
		func(l *judge.Lease, t int64) int { return cmp.Compare(l.Ended.T, t) })
	for _, l := range lost[first:] {
		if l.Ended.T > f.To {
			break
		}
		if concerns(l.Worker.Client) {
			one.lost = append(one.lost, l)
		}
	}
}

func (one *row) write(b *strings.Builder) {
	slices.Sort(one.waits)
	times := fmt.Sprint(one.count)
	if one.skipped+one.failed > 0 {
		times += fmt.Sprintf(" (%d not)", one.skipped+one.failed)
	}
	signal, running := time.Duration(0), time.Duration(0)
	for _, l := range one.lost {
		signal, running = max(signal, time.Duration(l.Ended.Late)), max(running, l.LateRunning())
	}
	cells := []string{
		string(one.kind), times, one.on.Round(time.Second).String(), thousands(len(one.waits) + one.none),
		thousands(one.none),
		short(quantile(one.waits, 50)), short(quantile(one.waits, 99)), short(quantile(one.waits, 100)),
		thousands(len(one.lost)), "", "",
	}
	if len(one.lost) > 0 {
		cells[9], cells[10] = short(signal), short(running)
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

// mostAnomalies are listed; the files have all of them.
const mostAnomalies = 50

// findings is what the judges say.
func (r *reading) findings(b *strings.Builder) {
	v := r.Verdict
	found := make(map[string]int)
	for _, a := range v.Anomalies {
		found[a.Judge]++
	}
	fmt.Fprint(b, "## Judges\n\n| judge | what it compared | anomalies |\n|---|---|---|\n")
	row := func(name, what string, args ...any) {
		fmt.Fprintf(b, "| %s | %s | %d |\n", name, fmt.Sprintf(what, args...), found[name])
	}
	row(judge.Exclusion, "validity of %s leases on one clock: no two of a resource overlap", thousands(len(v.Leases)))
	row(judge.Fences, "fences of the same: unique, and higher than every one that was granted before the call")
	row(judge.Ledger,
		"%s updates, %d of them of unknown outcome: fences in order, none lost, each under a lease; porcupine: %s",
		thousands(v.Register.Operations), v.Register.Unknown, v.Register.Result)
	claims := func(what ...history.Construct) (n int) {
		for _, w := range what {
			n += v.Claims[w]
		}
		return n
	}
	row(judge.Elections, "%s terms: no two at once, numbers in order", thousands(claims(history.Term)))
	row(judge.Permits, "%s permits: never more than %d at once, none of a slot twice, fences of a slot in order",
		thousands(claims(history.Permit)), worker.Permits)
	row(judge.Sets, "%s sets of two locks: no two with a member in common at once", thousands(claims(history.Set)))
	row(judge.ReadWrite, "%s writers and %s readers: no writer beside another or a reader, fences in order",
		thousands(claims(history.WriteLock)), thousands(claims(history.ReadLock)))
	row(judge.Losses, "%s losses: told when validity ended, or when the process ran again", thousands(len(r.losses())))
	row(judge.Telemetry, "metrics and logs of %d processes with their histories, to the call", len(r.Evidence.Workers))
	if r.Soak != nil {
		row(judge.Flatness, "%d trends of %s samples: the last third of each process with its second",
			len(r.Soak.Judged.Trends), thousands(len(r.Soak.Samples)))
		row(judge.Views, "the scanner, top, and the streams of pages: they went on, and showed something")
	}
	row(judge.Leaks, "locks on the nodes, gone %v after the last process had ended; goroutines",
		r.LocksGone.Round(100*time.Millisecond))
	fmt.Fprintln(b)
	for i, a := range v.Anomalies {
		if i == mostAnomalies {
			fmt.Fprintf(b, "- and %d more\n", len(v.Anomalies)-i)
			break
		}
		fmt.Fprintf(b, "- %s\n", oneLine(a.String()))
	}
}
