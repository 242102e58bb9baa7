package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

// Report is the JSON form of an examination.
type Report struct {
	Schema  int              `json:"schema"`
	Status  inspect.Status   `json:"status"`
	Results []inspect.Result `json:"results"`
	Nodes   []doctorNode     `json:"nodes"`
}

type doctorNode struct {
	Backend         string              `json:"backend,omitempty"` // empty: redis
	Node            string              `json:"node"`
	Error           string              `json:"error,omitempty"`
	Guard           diagnosis.Level     `json:"guard,omitempty"`   // of Redis: what its server allows
	Missing         []diagnosis.Missing `json:"missing,omitempty"` // that the server does not report or permit
	Version         string              `json:"version,omitempty"`
	Role            string              `json:"role,omitempty"`
	Uptime          float64             `json:"uptime_seconds"`
	Quarantine      float64             `json:"quarantine_left_seconds"`
	Vouched         bool                `json:"vouched"` // the process that runs now, or it has waited: it votes
	RunID           string              `json:"run_id,omitempty"`
	Marker          string              `json:"marker"`
	Configuration   string              `json:"configuration,omitempty"`
	QuarantineID    string              `json:"quarantine,omitempty"`
	ClockOffset     float64             `json:"clock_offset_seconds"`
	ClockOffsetErr  float64             `json:"clock_offset_error_seconds"`
	ClockDrift      float64             `json:"clock_drift_ppm"`
	ClockDriftError float64             `json:"clock_drift_error_ppm"`
	PingP50         float64             `json:"ping_p50_seconds"`
	PingP99         float64             `json:"ping_p99_seconds"`
	ScriptP50       float64             `json:"script_p50_seconds"`
	ScriptP99       float64             `json:"script_p99_seconds"`
	LeastTimeout    float64             `json:"least_node_timeout_seconds"` // 0: unknown
	Samples         int                 `json:"samples"`                    // of PING
	Missed          int                 `json:"samples_missed"`             // failed, or not answered within the node timeout
}

// examined is what was found of all systems.
type examined struct {
	facts   []diagnosis.Facts // of Redis
	others  []diagnosis.Examination
	results []inspect.Result
}

func writeDoctor(a *ui.App, format ui.Format, p diagnosis.Policy, d examined) error {
	if format == ui.JSON {
		nodes := append(doctorNodes(d.facts, p), backendNodes(d.others)...)
		return ui.WriteJSON(a.Out, Report{ui.SchemaVersion, inspect.Worst(d.results), d.results, nodes})
	}
	head, rows := []string{"RESULT", "CHECK", "NODE", "DETAIL"}, doctorRows(d.results)
	if len(d.others) > 1 || len(d.others) > 0 && len(d.facts) > 0 {
		head = slices.Insert(head, backendColumn, "BACKEND")
	} else {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], backendColumn, backendColumn+1)
		}
	}
	opt := ui.Layout{Width: ui.Terminal(a.Out)}
	if ui.Colored(a.Out, a.Env) {
		opt.Style = color
	}
	_, err := fmt.Fprintf(a.Out, "%s\n%s\n", ui.TableText(head, rows, opt), tally(d.results))
	return err
}

func doctorNodes(facts []diagnosis.Facts, p diagnosis.Policy) []doctorNode {
	nodes := make([]doctorNode, 0, len(facts))
	for _, f := range facts {
		n := doctorNode{
			Node: f.Node, Version: f.Server.Version, Role: f.Server.Role, Uptime: f.Server.Uptime.Seconds(),
			Vouched: f.Marker.State == stored.MarkerVoting, RunID: f.Server.Incarnation,
			Marker:        f.Marker.State.String(),
			Configuration: f.Marker.Configuration, QuarantineID: f.Marker.Identity,
			ScriptP50: f.Script.P50.Seconds(), ScriptP99: f.Script.P99.Seconds(),
		}
		n.measured(f.Clock, f.Ping)
		if n.RunID == "" {
			n.RunID = f.Marker.RunID
		}
		if f.Err == nil {
			n.Guard, n.Missing = f.Level(p), f.Lacks(p)
		}
		if f.Err != nil {
			n.Error = f.Err.Error()
		} else if left, ok := f.LeftOfChange(p, time.Now()); ok {
			n.Quarantine = left.Seconds()
		} else if len(facts) >= guard.EnforcedFrom && p.Single == "" {
			n.Quarantine = diagnosis.QuarantineLeftBy(f.Marker, p.MaxTTL, time.Now()).Seconds()
		} else if !n.Vouched {
			n.Quarantine = diagnosis.QuarantineLeft(f.Server.Uptime, p.MaxTTL).Seconds()
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func (n *doctorNode) measured(c diagnosis.Clock, ping diagnosis.Latency) {
	n.ClockOffset, n.ClockOffsetErr = c.Offset.Seconds(), c.OffsetError.Seconds()
	n.ClockDrift, n.ClockDriftError = c.Drift*1e6, c.DriftError*1e6
	n.PingP50, n.PingP99, n.LeastTimeout = ping.P50.Seconds(), ping.P99.Seconds(), ping.LeastTimeout().Seconds()
	n.Samples, n.Missed = ping.Count, ping.Missed
}

func backendNodes(all []diagnosis.Examination) (nodes []doctorNode) {
	for _, e := range all {
		for _, b := range e.Nodes {
			n := doctorNode{
				Backend: e.Backend, Node: b.Node, Version: b.Version, Role: b.Role, Uptime: b.Uptime.Seconds(),
			}
			n.measured(e.Clock, e.Ping)
			if b.Err != nil {
				n.Error = b.Err.Error()
			}
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// backendColumn is where rows say which system they are about.
const backendColumn = 1

// doctorRows says once what is true of several nodes, with the advice below.
func doctorRows(results []inspect.Result) [][]string {
	var rows [][]string
	for i := 0; i < len(results); {
		r := results[i]
		nodes := []string{cmp.Or(r.Node, "all")}
		for i++; i < len(results) && sameButNode(results[i], r); i++ {
			nodes = append(nodes, results[i].Node)
		}
		rows = append(rows, []string{string(r.Status), cmp.Or(r.Backend, servers.Redis), r.Check,
			strings.Join(nodes, " "),
			r.Detail})
		if r.Advice != "" {
			rows = append(rows, []string{"", "", "", "", "-> " + r.Advice})
		}
	}
	return rows
}

func sameButNode(a, b inspect.Result) bool {
	a.Node = b.Node
	return a == b
}

func tally(results []inspect.Result) string {
	count := make(map[inspect.Status]int)
	for _, r := range results {
		count[r.Status]++
	}
	return fmt.Sprintf("%d pass, %d warn, %d fail", count[inspect.Pass], count[inspect.Warn], count[inspect.Fail])
}

// color colours the first column of a table by its status.
func color(column int, cell, padded string) string {
	if column != 0 {
		return padded
	}
	switch inspect.Status(cell) {
	case inspect.Pass:
		return "\x1b[32m" + padded + "\x1b[0m"
	case inspect.Warn:
		return "\x1b[33m" + padded + "\x1b[0m"
	case inspect.Fail:
		return "\x1b[31m" + padded + "\x1b[0m"
	}
	return padded
}
