package exporter_test

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// oneNode is a scanner's snapshot after two sweeps of a node, one of which failed.
func oneNode() found {
	buckets := make(map[float64]uint64)
	for _, bound := range []float64{.01, .1, .5, 1, 5, 15, 60, 300} {
		buckets[bound] = 2
	}
	leak := report.Finding{Class: inspect.NoTTL, Node: "redis-1:6379", Key: "lock:order:1", Confirmed: true}
	return found{
		Last: report.Report{Started: time.Unix(100, 0), Findings: []report.Finding{leak}, Overflow: 4,
			Nodes: []report.NodeReport{{Node: "redis-1:6379",
				Gaps: []inspect.Gap{{Reason: inspect.ReasonReplica}}}},
			Gaps:     []inspect.Gap{{Reason: inspect.ReasonNoMatch}, {Reason: inspect.ReasonNoMatch}},
			Excluded: []report.Excluded{{Findings: 2}, {Findings: 3}}, Silents: 3},
		MemoryFailures: 6,
		Nodes: []scanner.NodeTotals{{
			Node: "redis-1:6379", Up: true, Quorum: 2, Locks: 7, Leaked: 1, Overlong: 2,
			Counts:     map[inspect.Class]int{inspect.NoTTL: 1, inspect.LongTTL: 2, inspect.Orphan: 3},
			OldestLeak: 90 * time.Second, LastSuccess: time.UnixMilli(1_700_000_000_500),
			Passes: 2, PassFailures: 1, Examined: 1000, Calls: 20, Truncated: true,
			Durations: scanner.Durations{Count: 2, Sum: 3 * time.Millisecond, Buckets: buckets},
		}},
	}
}

func TestScanCollector(t *testing.T) {
	want := map[string]string{
		"up": "1", "quorum_nodes": "2", "locks": "7", "leaked_locks": "1", "overlong_locks": "2", "oldest_leak_seconds": "90",
		"last_success_timestamp_seconds": "1.7000000005e+09", "truncated": "1", "passes_total": "2",
		"pass_failures_total": "1",
		"keys_examined_total": "1000", "scan_calls_total": "20", "pass_duration_seconds_sum": "0.003",
		"pass_duration_seconds_count": "2",
	}
	e := newExporter(t, exporter.WithScanner(oneNode(), exporter.WithLeakedLockInfo(5)))
	_, text := get(e, "/metrics")
	for name, value := range want {
		labels := `lock_node="redis-1:6379"`
		if name == "up" || name == "quorum_nodes" {
			labels = `group="",` + labels
		}
		contains(t, text, fmt.Sprintf("\ndistributed_lock_scanner_%s{%s} %s\n", name, labels, value))
	}
	contains(t, text,
		`distributed_lock_scanner_pass_duration_seconds_bucket{lock_node="redis-1:6379",le="0.01"} 2`,
		`distributed_lock_scanner_findings{class="orphan",lock_node="redis-1:6379"} 3`,
		`distributed_lock_scanner_findings{class="foreign_type",lock_node="redis-1:6379"} 0`,
		`distributed_lock_scanner_finding_keys{class="orphan"} 3`,
		`distributed_lock_scanner_finding_keys{class="foreign_type"} 0`,
		`distributed_lock_scanner_incomplete{reason="replica_not_in_sync"} 1`,
		`distributed_lock_scanner_incomplete{reason="no_match"} 2`,
		`distributed_lock_scanner_incomplete{reason="slots_moving"} 0`,
		"distributed_lock_scanner_findings_omitted 4", "distributed_lock_scanner_findings_excluded 5",
		"distributed_lock_scanner_silent_locks 3",
		"distributed_lock_scanner_standby 0", "distributed_lock_scanner_memory_failures_total 6",
		`distributed_lock_scanner_leaked_lock_info{key="lock:order:1",lock_node="redis-1:6379"} 1`)
}

// TestCallsAreOfRedisAlone: nobody counts the requests to another system, and 0 would say that there were none.
func TestCallsAreOfRedisAlone(t *testing.T) {
	s := oneNode()
	s.Nodes[0].Backend, s.Nodes[0].Node = "etcd", "etcd-1:2379"
	_, text := get(newExporter(t, exporter.WithScanner(s)), "/metrics")
	contains(t, text, `distributed_lock_scanner_keys_examined_total{lock_node="etcd-1:2379"} 1000`)
	if strings.Contains(text, "scan_calls_total{") {
		t.Errorf("calls of etcd:\n%s", text)
	}
}

// TestNoQuorumIsNone: 0 would say that a quorum needs no node.
func TestNoQuorumIsNone(t *testing.T) {
	s := oneNode()
	s.Nodes[0].Quorum = 0
	if _, text := get(newExporter(t, exporter.WithScanner(s)), "/metrics"); strings.Contains(text, "quorum_nodes{") {
		t.Errorf("a quorum of independent servers:\n%s", text)
	}
}

// TestAKeyIsCountedOnce within a group, however many nodes have it. In another group it is another lock.
func TestAKeyIsCountedOnce(t *testing.T) {
	s := found{Last: report.Report{Started: time.Unix(100, 0)}}
	for _, on := range []struct{ group, node, key string }{
		{"a", "a1", "lock:1"}, {"a", "a2", "lock:1"}, {"a", "a2", "lock:2"}, {"a", "a3", "lock:3"},
		{"b", "b1", "lock:1"},
	} {
		s.Last.Findings = append(s.Last.Findings,
			report.Finding{Class: inspect.NoTTL, Node: on.node, Group: on.group, Key: on.key, Confirmed: true})
	}
	for _, n := range []scanner.NodeTotals{{Node: "a1", Group: "a"}, {Node: "a2", Group: "a"}, {Node: "a3", Group: "a"},
		{Node: "b1", Group: "b"}} {
		n.Counts = map[inspect.Class]int{inspect.NoTTL: 1}
		s.Nodes = append(s.Nodes, n)
	}
	s.Nodes[1].Counts[inspect.NoTTL] = 2 // a sum over the nodes would be four
	s.Nodes[3].Counts[inspect.NoTTL] = 7 // six of these are not kept
	_, text := get(newExporter(t, exporter.WithScanner(s)), "/metrics")
	contains(t, text, `distributed_lock_scanner_finding_keys{class="no_ttl"} 10`)
}

// TestStandbyTellsOfThePastOnly: findings of before another process swept may be repaired since.
func TestStandbyTellsOfThePastOnly(t *testing.T) {
	s := oneNode()
	s.Standby = true
	_, text := get(newExporter(t, exporter.WithScanner(s, exporter.WithLeakedLockInfo(5))), "/metrics")
	contains(t, text, "distributed_lock_scanner_standby 1",
		`distributed_lock_scanner_passes_total{lock_node="redis-1:6379"} 2`,
		`distributed_lock_scanner_last_success_timestamp_seconds{lock_node="redis-1:6379"}`)
	for _, name := range []string{"up", "quorum_nodes", "locks", "leaked_locks", "findings", "finding_keys", "findings_omitted",
		"incomplete", "silent_locks", "leaked_lock_info", "oldest_leak_seconds", "unelected"} {
		if strings.Contains(text, "\ndistributed_lock_scanner_"+name+"{") ||
			strings.Contains(text, "\ndistributed_lock_scanner_"+name+" ") {
			t.Errorf("a standby tells %s", name)
		}
	}
}

// TestStandbyOfOneGroupCountsNoKeys of that group: they may be repaired since. Those of the group that it sweeps count.
func TestStandbyOfOneGroupCountsNoKeys(t *testing.T) {
	lost, led := scanner.Snapshot(oneNode()), scanner.Snapshot(oneNode())
	lost.Standby = true
	led.Nodes[0].Node, led.Nodes[0].Counts = "redis-2:6379", map[inspect.Class]int{inspect.LongTTL: 5}
	led.Last.Findings = nil
	_, text := get(newExporter(t, exporter.WithScanner(found(scanner.MergeSnapshots(lost, led)))), "/metrics")
	contains(t, text, "distributed_lock_scanner_standby 0", `distributed_lock_scanner_finding_keys{class="long_ttl"} 5`,
		`distributed_lock_scanner_finding_keys{class="no_ttl"} 0`, `distributed_lock_scanner_finding_keys{class="orphan"} 0`)
}

// TestNoKeysByDefault: keys are series only on request.
func TestNoKeysByDefault(t *testing.T) {
	for _, opts := range [][]exporter.ScanOption{nil, {exporter.WithLeakedLockInfo(-1)}, {nil}} {
		_, text := get(newExporter(t, exporter.WithScanner(oneNode(), opts...)), "/metrics")
		if strings.Contains(text, "order:1") {
			t.Errorf("a key is a label: %s", text)
		}
	}
}

// TestHostileKeys: any bytes become a valid label of bounded length, in a bounded number of series, and equal labels do
// not fail the scrape.
func TestHostileKeys(t *testing.T) {
	s := oneNode()
	s.Nodes = append(s.Nodes, s.Nodes[0], scanner.NodeTotals{Node: "\xff\xfe\n\"}"})
	long := "lock:" + strings.Repeat("é", 5000)
	s.Last.Findings = nil
	for _, key := range []string{"lock:\x00\xff", "lock:a\nb{c=\"d\"} 1", long + "1", long + "2", "lock:\x1b[31m", ""} {
		s.Last.Findings = append(s.Last.Findings,
			report.Finding{Class: inspect.NoTTL, Node: "n\xff", Key: key, Confirmed: true})
	}
	s.Last.Findings = append(s.Last.Findings,
		report.Finding{Class: inspect.NoTTL, Key: "lock:unconfirmed"},
		report.Finding{Class: inspect.LongTTL, Key: "lock:long", Confirmed: true})
	for i := range 100 {
		s.Last.Findings = append(s.Last.Findings,
			report.Finding{Class: inspect.NoTTL, Key: fmt.Sprint("lock:", i), Confirmed: true})
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(exporter.NewScanCollector(s, exporter.WithLeakedLockInfo(1000)))
	if _, err := registry.Gather(); err != nil {
		t.Error(err)
	}
	code, text := get(newExporter(t, exporter.WithGatherer(registry)), "/metrics")
	if code != 200 {
		t.Fatalf("%d: %s", code, text)
	}
	families, err := expfmtParse(text)
	must(t, err)
	leaks := families["distributed_lock_scanner_leaked_lock_info"].Metric
	if len(leaks) != exporter.MaxLeakedLockInfo {
		t.Errorf("%d series name keys", len(leaks))
	}
	for _, m := range leaks {
		for _, l := range m.Label {
			if v := l.GetValue(); len(v) > 210 || strings.ContainsAny(v, "\x00\n\x1b") ||
				strings.Contains(v, "unconfirmed") || v == "lock:long" {
				t.Errorf("%s=%q", l.GetName(), v)
			}
		}
	}
	if n := len(families["distributed_lock_scanner_up"].Metric); n != 2 {
		t.Errorf("%d nodes, want 2", n)
	}
}

type panicking struct{}

func (panicking) Snapshot() scanner.Snapshot { panic("s3cret") }

// TestPanickingScanner: the scrape succeeds and the process goes on.
func TestPanickingScanner(t *testing.T) {
	var log lines
	e := newExporter(t, exporter.WithScanner(panicking{}),
		exporter.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	code, text := get(e, "/metrics")
	if code != 200 || strings.Contains(text, "scanner_up") || strings.Contains(text+log.text(), "s3cret") {
		t.Errorf("%d: %s\n%s", code, text, log.text())
	}
	contains(t, log.text(), "the scanner's snapshot panicked")
	contains(t, text, "go_goroutines")
}

// TestBeforeTheFirstSweep has no node and no error.
func TestBeforeTheFirstSweep(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(exporter.NewScanCollector(found{}))
	families, err := registry.Gather()
	if err != nil || len(families) != 4 {
		t.Errorf("%v, %v", families, err)
	}
	none := prometheus.NewPedanticRegistry()
	none.MustRegister(exporter.NewScanCollector(nil))
	if families, err := none.Gather(); err != nil || len(families) != 0 {
		t.Errorf("nil scanner: %v, %v", families, err)
	}
}

func TestScanLint(t *testing.T) {
	problems, err := testutil.CollectAndLint(exporter.NewScanCollector(oneNode(), exporter.WithLeakedLockInfo(1)))
	must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestCatalogue compares the tables of doc.go and README.md with the collected metrics.
func TestCatalogue(t *testing.T) {
	_, text := get(newExporter(t, exporter.WithScanner(oneNode(), exporter.WithLeakedLockInfo(1)),
		exporter.WithConnections(oneConnected()), exporter.WithWaits(waiting{}), exporter.WithReload(reload{})),
		"/metrics")
	families, err := expfmtParse(text)
	must(t, err)
	var code, readme []string
	for name, f := range families {
		if !strings.HasPrefix(name, "distributed_lock_") {
			continue
		}
		row := fmt.Sprintf("%s %s %s", name, strings.ToLower(f.GetType().String()), labelsOf(f))
		code = append(code, row)
		help, cached := f.GetHelp(), false
		for _, of := range []string{"distributed_lock_scanner_last_success_timestamp_seconds",
			"distributed_lock_scanner_waits_last_success_timestamp_seconds"} {
			short, cut := strings.CutSuffix(help, " Cached; see "+of+".")
			help, cached = short, cached || cut
		}
		if sweep := strings.Contains(name, "_scanner_") && f.GetType() == dto.MetricType_GAUGE &&
			!strings.HasSuffix(name, "last_success_timestamp_seconds") && !strings.HasSuffix(name, "_standby") &&
			!strings.Contains(name, "_config_last_"); cached != sweep {
			t.Errorf("%s: HELP says it is cached: %v", name, cached)
		}
		readme = append(readme, row+" "+help+bounds(f))
	}
	same(t, "doc.go", code, table(t, "doc.go", "//\tdistributed_lock_", func(s string) []string {
		return append(strings.Fields(strings.TrimPrefix(s, "//"))[:2], strings.Join(strings.Fields(s)[3:], ""))
	}))
	same(t, "README.md", readme, table(t, "README.md", "| `distributed_lock_", func(s string) []string {
		cells := strings.Split(strings.Trim(s, "|"), "|")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "`", "")
		}
		cells[2] = strings.ReplaceAll(cells[2], " ", "")
		return cells
	}))
}

func labelsOf(f *dto.MetricFamily) string {
	var names []string
	for _, l := range f.Metric[0].Label {
		names = append(names, l.GetName())
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

func bounds(f *dto.MetricFamily) string {
	h := f.Metric[0].Histogram
	if h == nil {
		return ""
	}
	var all []string
	for _, b := range h.Bucket[:len(h.Bucket)-1] { // the last is +Inf
		all = append(all, fmt.Sprint(b.GetUpperBound()))
	}
	return " Buckets: " + strings.Join(all, " ") + "."
}

// table reads rows of name, type, labels and the rest.
func table(t *testing.T, file, prefix string, split func(string) []string) (rows []string) {
	text, err := os.ReadFile(file)
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		cells := split(strings.TrimSpace(line))
		labels := strings.Split(cells[2], ",")
		slices.Sort(labels)
		cells[2] = strings.Join(labels, ",")
		rows = append(rows, strings.Join(cells, " "))
	}
	return rows
}

func same(t *testing.T, where string, code, told []string) {
	for _, row := range code {
		if !slices.Contains(told, row) {
			t.Errorf("%s does not tell of: %s", where, row)
		}
	}
	for _, row := range told {
		if !slices.Contains(code, row) {
			t.Errorf("%s tells of what is not there: %s", where, row)
		}
	}
}
