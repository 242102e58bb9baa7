// Package leaks has the board of the scanner: its findings, and the cost of its sweeps.
package leaks

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
)

// Board is the board of leaks.
func Board(c config.Config) draw.Board {
	return draw.Board{
		UID: "lockscope-leaks", Title: "Distributed locks / Leaks", From: "now-6h",
		About: "Findings of the scanner among the lock keys of any library, and the cost of its sweeps. `lockscope " +
			"scan` names the keys. So does this page with --export-leaked-keys.",
		Variables: append(draw.Processes("distributed_lock_scanner_up"), draw.LockNodes("distributed_lock_scanner_up")),
		Rows: []draw.Row{
			{Title: "Now", Panels: leakTiles(c)},
			{Title: "Findings", Panels: leakFindings()},
			{Title: "Nodes", Panels: leakNodes(c)},
			{Title: "Leaked keys, gaps of sweeps and the memory", Panels: leakKeys()},
			{Title: "Waiting callers in the queues on the nodes", Panels: leakWaits()},
			draw.Folded("Cost of sweeps", leakCost()),
		},
	}
}

// worst takes the largest value of all scanner replicas.
func worst(metric, by string) string { return fmt.Sprintf("max by (%s) (%s)", by, metric) }

// LastSuccess is the metric of the time of a node's last complete sweep.
const LastSuccess = "distributed_lock_scanner_last_success_timestamp_seconds"

// latest takes the value of the replica that swept a node last. Replicas on standby still serve old values.
func latest(metric, selector, by string) string {
	return fmt.Sprintf("max by (%[1]s) (%[2]s and on ($JOB, instance, lock_node) (%[3]s == on ($JOB, lock_node) "+
		"group_left () max by ($JOB, lock_node) (%[3]s)))",
		by, metric+selector, LastSuccess+"{"+strings.Trim(strings.SplitN(selector, ",", 2)[0], "{}")+"}")
}

// sinceSweep is the time since the last complete sweep of a node, absent before the first.
const sinceSweep = "time() - max by ($CLUSTER lock_node) (" + LastSuccess + "{N} > 0)"

// FindingKeys counts keys with a finding, each once. If no scanner reports keys, it takes the largest count of
// any node.
func FindingKeys(class string) string {
	selector := `{I,class="` + class + `"}`
	return "sum(max by ($JOB) (distributed_lock_scanner_finding_keys" + selector + ") or max by ($JOB) (" +
		latest("distributed_lock_scanner_findings", selector, "$JOB, lock_node") + "))"
}

func leakTiles(c config.Config) []draw.Panel {
	reached := worst("distributed_lock_scanner_up{N}", "$CLUSTER lock_node")
	found := func(title, class string, s []draw.Step, about string) draw.Panel {
		return draw.Tile(title, "short", 0, s, draw.Now(FindingKeys(class)), about)
	}
	stale := time.Duration(c.Alerts.ScannerStale).Seconds()
	return []draw.Panel{
		found("Without TTL", "no_ttl", draw.AnyIsBad(),
			"Lock keys without a TTL, confirmed by a second look. A key on several nodes counts once, "+
				"and again for each further job that sweeps them. Good: 0. "+
				"Callers that wait for one wait forever. `lockscope scan` names them, and `lockscope repair` gives "+
				"them a TTL."),
		found("TTL too long", "long_ttl", draw.AnyIsSuspicious(),
			"Lock keys with a TTL above --max-ttl. Good: 0. Often seconds and milliseconds are mixed up. If the "+
				"holder dies, its waiters wait for the rest of the TTL."),
		found("Held too long", "held_too_long", draw.AnyIsSuspicious(),
			"Lock keys with the same holder in every sweep for longer than --max-hold. Good: 0. The holder renews and does not "+
				"finish, or takes the lock again and again. `lockscope scan` says what is known."),
		found("Orphaned", "orphan", draw.AnyIsSuspicious(),
			"Lock keys on a minority of the nodes. Good: 0, apart from a few seconds. They expire by themselves, and "+
				"cost votes until then."),
		found("Wrong type", "foreign_type", draw.AnyIsSuspicious(),
			"Keys under the lock prefix with a type that no lock has. Good: 0. Another program uses the prefix: "+
				"rename its keys, or narrow --pattern."),
		draw.Tile("Oldest leak", "s", draw.Auto, draw.Steps(draw.Green, draw.At(1, draw.Orange), draw.At(3600, draw.Red)),
			draw.Now("max("+latest("distributed_lock_scanner_oldest_leak_seconds", "{N}", "$CLUSTER lock_node")+")"),
			"Time since the oldest lock without a TTL was found. Good: 0, there is none. Hours: nobody acts on the alert."),
		draw.Tile("Scan age", "s", draw.Auto, draw.Steps(draw.Green, draw.At(stale/2, draw.Orange),
			draw.At(stale, draw.Red)), draw.Now("max("+sinceSweep+")"),
			fmt.Sprintf(
				"Time since the last complete sweep, of the node with the oldest. Good: a few sweep intervals. Above "+
					"%s an alert fires, and the other numbers here are old.", c.Alerts.ScannerStale)),
		draw.Tile("Unreached nodes", "short", 0, draw.AnyIsBad(),
			draw.Now(`count(`+reached+` == 0) or 0 * count(`+reached+`)`),
			"Nodes that the last sweep could not reach. Good: 0. Run `lockscope doctor` where the scanner runs. No data: no "+
				"scanner has swept, or none is scraped."),
	}
}

func leakFindings() []draw.Panel {
	return []draw.Panel{
		draw.Chart("Findings by class", "short", draw.Third,
			draw.History("sum by (class) ("+latest("distributed_lock_scanner_findings", "{N}", "$CLUSTER lock_node, class")+
				")",
				"{{class}}"),
			"Confirmed findings, summed over all nodes. Good: none. A step at a deployment shows which one brought "+
				"the leak.").
			Stacked().Tinted(draw.In(draw.Red, "no_ttl"), draw.In(draw.Orange, "long_ttl"),
			draw.In(draw.Yellow, "held_too_long"),
			draw.In(draw.Purple, "orphan"),
			draw.In(draw.Blue, "foreign_type")),
		draw.Chart("Findings by node", "short", draw.Third,
			draw.History("sum by ($CLUSTER lock_node) ("+
				latest("distributed_lock_scanner_findings", "{N}", "$CLUSTER lock_node, class")+")", "{{lock_node}}"),
			"Confirmed findings of all classes. Good: none. All nodes: a client that uses all of them. One node: a "+
				"client of that one, or keys restored with it.").Stacked(),
		draw.Chart("Findings not named", "short", draw.Third,
			draw.History("max by ($JOB) (distributed_lock_scanner_findings_omitted{I})", "{{job}}"),
			"Findings beyond --max-findings: counted, but not named in logs and reports. Good: 0. Otherwise repair "+
				"the named ones, or raise the limit.").Reaching(10),
		draw.Chart("Age of the oldest leak by node", "s", draw.Half,
			draw.History(latest("distributed_lock_scanner_oldest_leak_seconds", "{N}", "$CLUSTER lock_node"),
				"{{lock_node}}"),
			"Time since the oldest lock without a TTL was found. Good: 0. It climbs until the key is repaired, and "+
				"starts at 0 again when the scanner restarts.").Marked(draw.Steps(draw.Green, draw.At(3600, draw.Red))),
		draw.Chart("Lock keys by node", "short", draw.Half,
			draw.History(latest("distributed_lock_scanner_locks", "{N}", "$CLUSTER lock_node"), "{{lock_node}}"),
			"Keys that match the pattern, in the last complete sweep. Good: similar on all nodes of a Redlock, and "+
				"steady. Growth without more traffic means leaks or long TTLs."),
	}
}

func leakNodes(c config.Config) []draw.Panel {
	yes := map[string]string{"0": "no", "1": "yes"}
	stale := time.Duration(c.Alerts.ScannerStale).Seconds()
	node := func(metric string) string { return latest(metric, "{N}", "$CLUSTER lock_node") }
	return []draw.Panel{
		{Kind: draw.Table, Title: "Nodes at their last sweep", Width: draw.Full, Height: 7, Unit: "short",
			Decimals: draw.Auto,
			About: "Good: reached, not truncated, no leaks, swept minutes ago. Truncated: the sweep stopped at a " +
				"limit, and the counts are lower bounds. Raise the deadline or the page size.",
			Queries: draw.Instants(worst("distributed_lock_scanner_up{N}", "$CLUSTER lock_node"),
				node("distributed_lock_scanner_locks"), node("distributed_lock_scanner_leaked_locks"),
				node("distributed_lock_scanner_overlong_locks"),
				node("distributed_lock_scanner_oldest_leak_seconds")+" > 0",
				sinceSweep, node("distributed_lock_scanner_truncated")),
			Columns: []draw.Column{
				{Title: "Reached", Unit: "short", Steps: draw.Steps(draw.Red, draw.At(1, draw.Green)), Words: yes},
				{Title: "Lock keys", Unit: "short", Steps: draw.Neutral()},
				{Title: "Without TTL", Unit: "short", Steps: draw.AnyIsBad()},
				{Title: "TTL too long", Unit: "short", Steps: draw.AnyIsSuspicious()},
				{Title: "Oldest leak", Unit: "s", Decimals: draw.Auto,
					Steps: draw.Steps(draw.Green, draw.At(1, draw.Orange), draw.At(3600, draw.Red))},
				{Title: "Scan age", Unit: "s", Decimals: draw.Auto,
					Steps: draw.Steps(draw.Green, draw.At(stale/2, draw.Orange), draw.At(stale, draw.Red))},
				{Title: "Truncated", Unit: "short", Steps: draw.Steps(draw.Green, draw.At(1, draw.Orange)), Words: yes},
			}},
	}
}

// leakKeys names the keys that the exporter names.
func leakKeys() []draw.Panel {
	return []draw.Panel{
		{Kind: draw.Table, Title: "Leaked keys", Width: draw.Third, Height: draw.ChartHeight, Unit: "short", Decimals: 0,
			None: "no leaked key, or none is named (serve --export-leaked-keys)",
			About: "Lock keys without a TTL, and the number of nodes that have each. Good: none. --export-leaked-keys " +
				"exports a few names; `lockscope scan` lists all.",
			Queries: draw.Now("sort_desc(count by ($JOB, key) (max by ($JOB, lock_node, key) " +
				"(distributed_lock_scanner_leaked_lock_info{N})))"),
			Columns: []draw.Column{{Title: "Nodes", Unit: "short", Steps: draw.AnyIsBad(), Width: 90}},
			Order:   []string{"key", "job"}},
		{Kind: draw.States, Title: "Gaps of sweeps by reason", Width: draw.Third, Height: draw.ChartHeight, Unit: "short",
			Decimals: 0,
			Steps:    draw.Steps(draw.Green, draw.At(1, draw.Orange)),
			About: "Orange: the last sweep did not read everything, for this reason. Good: green for every reason. " +
				"Leaks in the unread part are not reported.",
			Queries: draw.History("max by ($CLUSTER reason) (distributed_lock_scanner_incomplete{I})", "{{reason}}")},
		draw.Chart("Failures of the memory in 15 minutes", "short", draw.Third,
			draw.History("sum by ($JOB) (increase(distributed_lock_scanner_memory_failures_total{I}[15m]))", "{{job}}"),
			"Sweeps that could not load or save what earlier sweeps knew (--state). Good: 0. While they fail, a "+
				"restart reports known leaks again. The scanner's log has the error.").Reaching(1),
	}
}

// waitsOf takes a number about the queues from scanners that read a majority of them in the last two minutes. In an
// outage they still serve old numbers.
func waitsOf(metric string) string {
	const read = "distributed_lock_scanner_waits_last_success_timestamp_seconds{I}"
	return "max by ($JOB) (distributed_lock_scanner_" + metric + "{I} and on ($JOB, instance) (time() - " + read +
		" < 120))"
}

// leakWaits shows the queues of all processes, including those that are not scraped.
func leakWaits() []draw.Panel {
	const gap = " A gap: the queues of a majority of the nodes were not read for two minutes."
	return []draw.Panel{
		draw.Chart("Waiting calls and blocked locks", "short", draw.Third, []draw.Query{
			{Expr: waitsOf("waiting_calls"), Legend: "{{job}} waiting calls"},
			{Expr: waitsOf("blocked_locks"), Legend: "{{job}} locks waited for"}},
			"Calls in the queues on the nodes, and the locks they wait for, of all processes. Good: comes and goes."+gap).
			Reaching(1),
		draw.Chart("Longest wait", "s", draw.Third, draw.History(waitsOf("longest_wait_seconds"), "{{job}}"),
			"Time that the longest-waiting caller has waited. Good: below the longest hold. Climbing: its holder is "+
				"stuck. `lockscope list` names it."+gap),
		draw.Chart("Deadlocks across processes", "short", draw.Third, draw.History(waitsOf("deadlocks"), "{{job}}"),
			"Cycles of callers that wait for one another, in the queues of all processes. Good: 0. No caller in a "+
				"cycle gets its lock until one gives up. `lockscope list` names them."+gap).Reaching(1),
	}
}

// leakCost sums the cost of sweeps over an hour: sweeps are minutes apart, so the rate between two scrapes is
// mostly zero.
func leakCost() []draw.Panel {
	perSweep := func(what string) string {
		return fmt.Sprintf("sum by ($CLUSTER lock_node) (increase(%s{N}[1h])) / (sum by ($CLUSTER lock_node) "+
			"(increase(distributed_lock_scanner_passes_total{N}[1h])) > 0)", what)
	}
	duration := "sum by ($CLUSTER lock_node, le) (increase(distributed_lock_scanner_pass_duration_seconds_bucket{N}[1h]))"
	return []draw.Panel{
		draw.Chart("Sweep duration, p99", "s", draw.Third,
			draw.History("histogram_quantile(0.99, "+duration+")", "{{lock_node}}"),
			"The slowest sweeps of the last hour, by node. Good: far below the sweep interval. Most of it is pauses: "+
				"a gentle sweep is a long one."),
		draw.Chart("Time spent sweeping", "percentunit", draw.Third,
			draw.History(
				"sum by ($CLUSTER lock_node) (increase(distributed_lock_scanner_pass_duration_seconds_sum{N}[1h])) / 3600",
				"{{lock_node}}"),
			"Good: below 10 %. Near 100 %, sweeps follow one another without rest: raise the interval or the page "+
				"size.").
			Reaching(.1),
		draw.Chart("Failed sweeps", "percentunit", draw.Third,
			draw.History(perSweep("distributed_lock_scanner_pass_failures_total"), "{{lock_node}}"),
			"Share of sweeps of the last hour that failed. Good: none. The scanner's log has the reason.").Reaching(.1),
		draw.Chart("Keys examined per sweep", "short", draw.Third,
			draw.History(perSweep("distributed_lock_scanner_keys_examined_total"), "{{lock_node}}"),
			"Keys that the server examined, locks or not: they cost the time. Good: the size of the database, or 0 if "+
				"the server's own count makes a sweep unnecessary."),
		draw.Chart("Commands per sweep", "short", draw.Third,
			draw.History(perSweep("distributed_lock_scanner_scan_calls_total"), "{{lock_node}}"),
			"Commands sent to the node. Good: keys divided by the page size. Many more: the pages are too small."),
		{Kind: draw.States, Title: "Truncated sweeps", Width: draw.Third, Height: draw.ChartHeight, Unit: "short",
			Decimals: 0,
			Steps:    draw.Steps(draw.Green, draw.At(1, draw.Orange)),
			About: "Orange: the last sweep stopped at a limit before it had seen all keys, and the counts are lower " +
				"bounds. Good: green. Otherwise raise the deadline or the page size.",
			Queries: draw.History(latest("distributed_lock_scanner_truncated", "{N}", "$CLUSTER lock_node"),
				"{{lock_node}}")},
	}
}
