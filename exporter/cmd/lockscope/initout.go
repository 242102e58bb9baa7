package main

import (
	"fmt"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/quarantine"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/table"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/vouch"
)

// initReport is the JSON form of a vouch.
type initReport struct {
	Schema int          `json:"schema"`
	Status vouch.Result `json:"status"`
	Nodes  []initNode   `json:"nodes"`
}

type initNode struct {
	Node       string       `json:"node"`
	Result     vouch.Result `json:"result"`
	Detail     string       `json:"detail"`
	Advice     string       `json:"advice,omitempty"`
	Uptime     float64      `json:"uptime_seconds"`
	Quarantine float64      `json:"quarantine_left_seconds"`
}

func writeInit(a *app, format outputFlag, r vouch.Report) error {
	if format == outputJSON {
		return writeJSON(a.out, jsonInit(r))
	}
	var rows [][]string
	for _, n := range r.Nodes {
		rows = append(rows, []string{string(n.Result), n.Node, n.Detail})
		if n.Advice != "" {
			rows = append(rows, []string{"", "", "-> " + n.Advice})
		}
	}
	opt := table.Options{Width: terminal(a.out)}
	if colored(a.out, a.env) {
		opt.Style = colorResult
	}
	if err := table.Write(a.out, []string{"RESULT", "NODE", "DETAIL"}, rows, opt); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\n%s\n", initSummary(r))
	return err
}

func jsonInit(r vouch.Report) initReport {
	out := initReport{Schema: schemaVersion, Status: r.Result, Nodes: make([]initNode, 0, len(r.Nodes))}
	for _, n := range r.Nodes {
		out.Nodes = append(out.Nodes, initNode{n.Node, n.Result, n.Detail, n.Advice, n.Uptime.Seconds(), n.Left.Seconds()})
	}
	return out
}

func initSummary(r vouch.Report) string {
	n := len(r.Nodes)
	switch r.Result {
	case vouch.Vouched:
		return fmt.Sprintf("vouched for %s, until they restart: after that they have to wait", count(n, "node"))
	case vouch.Already:
		return fmt.Sprintf("vouched for before: nothing to do for %s", count(n, "node"))
	}
	text := "refused: it is all nodes or none"
	if done := r.Count(vouch.Vouched); done > 0 {
		text = fmt.Sprintf("refused after %s had been vouched for, which does no harm", count(done, "node"))
	}
	if left := r.Left(); n >= 3 && left > 0 {
		return fmt.Sprintf("%s; those that answered all vote by themselves in %v at the latest", text, quarantine.RoundUp(left))
	}
	return text
}

func colorResult(column int, cell, padded string) string {
	status := map[vouch.Result]diagnosis.Status{
		vouch.Vouched: diagnosis.Pass, vouch.Already: diagnosis.Pass, vouch.Untouched: diagnosis.Warn, vouch.Refused: diagnosis.Fail,
	}
	if s, ok := status[vouch.Result(cell)]; ok {
		return colorStatus(column, string(s), padded)
	}
	return padded
}
