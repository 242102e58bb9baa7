package bench

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/table"
)

// document is the JSON form of a report.
type document struct {
	Schema       int            `json:"schema"`
	Nodes        []string       `json:"nodes"`
	Quorum       int            `json:"quorum"`
	TTL          float64        `json:"ttl_seconds"`
	NodeTimeout  float64        `json:"node_timeout_seconds"`
	Measurements []measurement  `json:"measurements"`
	Proposal     *proposed      `json:"proposal,omitempty"`
	Left         map[string]int `json:"keys_left,omitempty"`
	Unknown      []string       `json:"keys_left_unknown,omitempty"`
}

type measurement struct {
	Kind      string  `json:"kind"` // pair or hand-off
	Callers   int     `json:"callers"`
	Processes int     `json:"processes"`
	HungNode  string  `json:"hung_node,omitempty"`
	Seconds   float64 `json:"seconds"`
	Calls     int     `json:"calls"`
	Rate      float64 `json:"per_second"`
	P50       float64 `json:"p50_seconds"`
	P99       float64 `json:"p99_seconds"`
	Longest   float64 `json:"max_seconds"`
	Failed    int     `json:"failed"`
	Error     string  `json:"error,omitempty"`
}

type proposed struct {
	TTL         float64 `json:"ttl_seconds"`
	NodeTimeout float64 `json:"node_timeout_seconds"`
}

func writeReport(a *app.App, format output.Format, r *report) error {
	if format == output.JSON {
		return output.WriteJSON(a.Out, r.document())
	}
	rows := make([][]string, 0, len(r.rows))
	for _, m := range r.rows {
		rows = append(rows, []string{
			m.kind, strconv.Itoa(m.callers), strconv.Itoa(m.processes), m.hung, fmt.Sprintf("%.0f", m.rate()),
			output.Short(m.quantile(50)), output.Short(m.quantile(99)), output.Short(m.quantile(100)),
			strconv.Itoa(m.failed),
		})
	}
	head := []string{"TEST", "CALLERS", "PROCESSES", "HUNG NODE", "PER SECOND", "P50", "P99", "MAX", "FAILED"}
	if err := table.Write(a.Out, head, rows, table.Options{Width: output.Terminal(a.Out)}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Out, "\n%s%s", r.proposalText(), r.failureText())
	return err
}

func (r *report) proposalText() string {
	p, ok := r.propose()
	if !ok {
		return ""
	}
	text := fmt.Sprintf("proposed: TTL %v, node timeout %v. One in 100 pairs took longer than %s\n", p.TTL,
		p.NodeTimeout, output.Short(p.Slowest))
	if p.TTL > r.bench.maxTTL {
		text += fmt.Sprintf("the proposed TTL is longer than --max-ttl %v: find out why these servers are slow\n",
			r.bench.maxTTL)
	}
	if len(r.bench.nodes) < tolerant {
		text += "no node was made to hang: that takes three nodes or more\n"
	}
	return text
}

// failureText has an error of each measurement with failures.
func (r *report) failureText() (text string) {
	for _, m := range r.rows {
		if m.failed > 0 {
			text += fmt.Sprintf("%s with %s: %s failed, such as: %s\n", m.kind, output.Count(m.callers, "caller"),
				output.Count(m.failed, "call"), table.Printable(m.err.Error()))
		}
	}
	return text
}

func (r *report) document() document {
	d := document{
		Schema: output.SchemaVersion, Nodes: r.bench.names, Quorum: len(r.bench.names)/2 + 1,
		TTL: r.bench.ttl.Seconds(), NodeTimeout: r.bench.timeout().Seconds(), Left: r.left.keys, Unknown: r.left.unknown,
		Measurements: make([]measurement, 0, len(r.rows)),
	}
	for _, m := range r.rows {
		one := measurement{
			Kind: m.kind, Callers: m.callers, Processes: m.processes, HungNode: m.hung, Seconds: m.ran.Seconds(),
			Calls: len(m.took), Rate: m.rate(), P50: seconds(m.quantile(50)), P99: seconds(m.quantile(99)),
			Longest: seconds(m.quantile(100)), Failed: m.failed,
		}
		if m.err != nil {
			one.Error = m.err.Error()
		}
		d.Measurements = append(d.Measurements, one)
	}
	if p, ok := r.propose(); ok {
		d.Proposal = &proposed{p.TTL.Seconds(), p.NodeTimeout.Seconds()}
	}
	return d
}

// seconds drops what is below a microsecond.
func seconds(d time.Duration) float64 { return d.Round(time.Microsecond).Seconds() }
