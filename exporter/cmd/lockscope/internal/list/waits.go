package list

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/listing"
)

// waits are the waiters as list shows them.
type waits struct{ *listing.Waits }

// listedWait is the JSON form of a lock's queue.
type listedWait struct {
	Processes int            `json:"processes"`
	Callers   int            `json:"callers"`
	Longest   float64        `json:"longest_seconds"`
	Chain     []string       `json:"chain,omitempty"`   // what the holder waits for, and so on
	Writers   int            `json:"writers,omitempty"` // processes that wait to write, and keep later readers out
	Queue     []listedWaiter `json:"queue"`
}

type listedWaiter struct {
	ID          string           `json:"id"`
	Name        string           `json:"name,omitempty"` // empty until it has waited for a moment
	Waited      float64          `json:"waited_seconds"`
	Callers     int              `json:"callers,omitempty"`
	CallSite    string           `json:"call_site,omitempty"`
	Traceparent string           `json:"traceparent,omitempty"`
	Page        string           `json:"page,omitempty"`
	Holds       []lock.HeldLease `json:"holds,omitempty"`
}

func (w waits) of(key string) *listing.WaitedFor {
	for i := range w.Locks {
		if w.Locks[i].Key == key {
			return &w.Locks[i]
		}
	}
	return nil
}

func (w waits) document(f *listing.WaitedFor) *listedWait {
	if f == nil {
		return nil
	}
	d := &listedWait{Processes: f.Processes, Callers: f.Callers, Longest: f.Longest().Seconds(),
		Chain: w.Graph.Chain(f.Resource), Writers: f.Writers()}
	for _, q := range f.Queue {
		one := listedWaiter{ID: q.ID, Waited: f.Waited(q).Seconds()}
		if says := q.Says; says != nil {
			one.Name, one.Callers, one.CallSite = says.Instance, says.Callers, says.CallSite
			one.Traceparent, one.Page, one.Holds = says.Traceparent, says.Page, says.Holds
		}
		d.Queue = append(d.Queue, one)
	}
	return d
}

func waitText(d time.Duration) string {
	if d == 0 {
		return ui.Unknown
	}
	return inspect.Short(d)
}

// text is the column of a lock's row: how many calls wait, and the longest wait.
func (w waits) text(key string) string {
	f := w.of(key)
	switch {
	case f == nil && fleet.QueuesErr(w.Waits) != nil:
		return ui.Unknown
	case f == nil:
		return "-"
	}
	if f.Construct().Kind == lock.KindElection {
		return inspect.Count(f.Callers, "candidate") + ", " + waitText(f.Longest())
	}
	text := fmt.Sprintf("%d, %s", f.Callers, waitText(f.Longest()))
	if n := f.Writers(); n > 0 {
		text += fmt.Sprintf(", %d to write", n)
	}
	return text
}

func (w waits) rows(f listing.WaitedFor) (rows [][]string) {
	for _, q := range w.document(&f).Queue {
		name, callers := q.Name, strconv.Itoa(q.Callers)
		if name == "" {
			name, callers = ui.Unknown, ui.Unknown
		}
		rows = append(rows, []string{
			waitedFor(&f), name, callers, waitText(time.Duration(q.Waited * float64(time.Second))),
			q.CallSite, fleet.HoldsText(q.Holds),
		})
	}
	if more := f.Processes - len(f.Queue); more > 0 {
		rows = append(rows, []string{waitedFor(&f), "... and " + inspect.Count(more, "more process"),
			"", "", "", ""})
	}
	return rows
}
