package doctor

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

// Result is what came of one node, and of all of them.
type Result string

// The results.
const (
	Vouched   Result = "vouched"   // by this run
	Already   Result = "already"   // before, and the server has not restarted since
	Refused   Result = "refused"   // it stood in the way; of all nodes: one did
	Untouched Result = "untouched" // another stood in the way
)

// initResult is the outcome of a run, and its JSON form.
type initResult struct {
	Schema int    `json:"schema"`
	Result Result `json:"status"`
	// Used says that nothing but former use stood in the way.
	Used bool `json:"-"`
	// Unfinished says that a node is in a change, which never ends by itself.
	Unfinished bool          `json:"-"`
	Nodes      []vouchedNode `json:"nodes"`
}

// vouchedNode is what came of one node.
type vouchedNode struct {
	Node   string  `json:"node"`
	Result Result  `json:"result"`
	Detail string  `json:"detail"`
	Advice string  `json:"advice,omitempty"` // what to do about it; empty if nothing
	Uptime seconds `json:"uptime_seconds"`
	// Left is for how long locks that the node may have forgotten can be valid: of three
	// nodes or more, it does not vote until then. Zero if it votes.
	Left seconds `json:"quarantine_left_seconds"`
}

// seconds is a duration that JSON has in seconds.
type seconds time.Duration

// MarshalJSON implements json.Marshaler.
func (s seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// Count is how many nodes have a result.
func (r initResult) Count(of Result) (n int) {
	for _, node := range r.Nodes {
		if node.Result == of {
			n++
		}
	}
	return n
}

// Left is when the last of the nodes that answered votes by itself.
func (r initResult) Left() time.Duration {
	var left seconds
	for _, n := range r.Nodes {
		left = max(left, n.Left)
	}
	return time.Duration(left)
}

func newInitResult(nodes []servers.Node, seen []sight, names []string, maxTTL time.Duration) initResult {
	r := initResult{Schema: ui.SchemaVersion, Nodes: make([]vouchedNode, len(nodes))}
	for i, s := range seen {
		changing := s.marker.State == stored.MarkerChanging
		r.Unfinished = r.Unfinished || changing
		r.Nodes[i] = vouchedNode{Node: nodes[i].Name, Result: Untouched, Detail: "unchanged", Uptime: seconds(s.uptime)}
		switch {
		case s.marker.State == stored.MarkerVoting && s.marker.Of(names, maxTTL):
			r.Nodes[i].Result, r.Nodes[i].Detail = Already,
				"it votes, and has not restarted since somebody vouched for it or it waited"
		case s.err == nil && s.asked && len(nodes) < guard.EnforcedFrom && !changing:
			r.Nodes[i].Left = seconds(diagnosis.QuarantineLeft(s.uptime, maxTTL))
		case s.err == nil && s.asked:
			r.Nodes[i].Left = seconds(diagnosis.QuarantineLeftBy(s.marker, maxTTL, time.Now()))
		}
	}
	return r
}

func (r *initResult) vouched(detail string) {
	r.Result = Vouched
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.Result, n.Detail, n.Left = Vouched, detail, 0
	}
}

func (r *initResult) refuse(i int, detail, advice string) {
	n := &r.Nodes[i]
	n.Result, n.Detail, n.Advice = Refused, detail, advice
}

// refuseLatecomers refuses nodes that may be new, if the other nodes are in use.
func (r *initResult) refuseLatecomers() {
	if r.Count(Already) == 0 {
		return
	}
	for i, n := range r.Nodes {
		if n.Result == Untouched {
			r.refuse(i, "the other nodes are in use already, and this one restarted or joined them",
				whatNow(n.Left, len(r.Nodes)))
		}
	}
}

func whatNow(left seconds, nodes int) string {
	switch {
	case left == 0:
		return "nothing: it votes already"
	case nodes < guard.EnforcedFrom:
		return fmt.Sprintf("it votes already; locks that it may have forgotten can be valid for another %v",
			inspect.Whole(diagnosis.RoundUp(time.Duration(left))))
	}
	return fmt.Sprintf("wait: it votes by itself in %v, once every lock that it may have forgotten has expired",
		inspect.Whole(diagnosis.RoundUp(time.Duration(left))))
}

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
	table := ui.TableText([]string{"RESULT", "NODE", "DETAIL"}, rows, opt)
	_, err := fmt.Fprintf(a.Out, "%s\n%s\n", table, initSummary(r))
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
	if left := r.Left(); n >= guard.EnforcedFrom && left > 0 && !r.Unfinished {
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
