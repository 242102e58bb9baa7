package doctor

import (
	"fmt"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

func writeInit(a *ui.App, format ui.Format, r initResult) error {
	if format == ui.JSON {
		return ui.WriteJSON(a.Out, r)
	}
	var rows [][]string
	for _, n := range r.Nodes {
		rows = append(rows, []string{string(n.Result), n.Node, n.Detail})
		if n.Advice != "" {
			rows = append(rows, []string{"", "", "-> " + n.Advice})
		}
	}
	opt := ui.Layout{Width: ui.Terminal(a.Out)}
	if ui.Colored(a.Out, a.Env) {
		opt.Style = colorResult
	}
	if err := ui.WriteTable(a.Out, []string{"RESULT", "NODE", "DETAIL"}, rows, opt); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.Out, "\n%s\n", initSummary(r))
	return err
}

func initSummary(r initResult) string {
	n := len(r.Nodes)
	switch r.Result {
	case Vouched:
		return fmt.Sprintf("vouched for %s until they restart; after that they must wait", inspect.Count(n, "node"))
	case Already:
		return fmt.Sprintf("already vouched for %s: nothing to do", inspect.Count(n, "node"))
	}
	text := "refused: init vouches for all nodes or none"
	if done := r.Count(Vouched); done > 0 {
		text = fmt.Sprintf("refused after init had vouched for %s, which does no harm", inspect.Count(done, "node"))
	}
	if left := r.Left(); n >= guard.EnforcedFrom && left > 0 {
		return fmt.Sprintf("%s; the nodes that answered vote by themselves in %v at the latest", text,
			inspect.Whole(diagnosis.RoundUp(left)))
	}
	return text
}

func colorResult(column int, cell, padded string) string {
	status := map[Result]inspect.Status{
		Vouched: inspect.Pass, Already: inspect.Pass, Untouched: inspect.Warn, Refused: inspect.Fail,
	}
	if s, ok := status[Result(cell)]; ok {
		return color(column, string(s), padded)
	}
	return padded
}
