package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/table"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner"
)

// waits is what list says of who waits.
type waits struct{ *scanner.Waits }

// errWaits is of queues that could not be read; nil if all could.
func (w waits) errWaits() error {
	switch {
	case w.Err != nil && redisconn.IsReply(w.Err):
		return fmt.Errorf("%w (granting +scan %%R~lockscope:queue:* %%R~lockscope:waiter:* +zrange +zcard +mget to this user helps if it may not)", w.Err)
	case w.Omitted:
		return fmt.Errorf("only %d of the locks that are waited for were looked at (see --filter)", scanner.MaxWaitedFor)
	}
	return w.Err
}

// listedWait is the JSON form of a lock's queue.
type listedWait struct {
	Processes int            `json:"processes"`
	Callers   int            `json:"callers"`
	Longest   float64        `json:"longest_seconds"`
	Chain     []string       `json:"chain,omitempty"` // what the holder waits for, and so on
	Queue     []listedWaiter `json:"queue"`
}

type listedWaiter struct {
	ID          string      `json:"id"`
	Name        string      `json:"name,omitempty"` // empty until it has waited for a moment
	Waited      float64     `json:"waited_seconds"`
	Callers     int         `json:"callers,omitempty"`
	CallSite    string      `json:"call_site,omitempty"`
	Traceparent string      `json:"traceparent,omitempty"`
	Page        string      `json:"page,omitempty"`
	Holds       []lock.Held `json:"holds,omitempty"`
}

func (w waits) of(key string) *scanner.WaitedFor {
	for i := range w.Locks {
		if w.Locks[i].Key == key {
			return &w.Locks[i]
		}
	}
	return nil
}

func (w waits) document(f *scanner.WaitedFor, now time.Time) *listedWait {
	if f == nil {
		return nil
	}
	d := &listedWait{Processes: f.Processes, Callers: f.Callers, Longest: w.longest(f, now).Seconds(), Chain: w.Graph.Chain(f.Resource)}
	for _, q := range f.Queue {
		one := listedWaiter{ID: q.ID, Waited: max(0, now.Sub(q.Since)).Seconds()}
		if says := q.Says; says != nil {
			one.Name, one.Callers, one.CallSite = says.Instance, says.Callers, says.CallSite
			one.Traceparent, one.Page, one.Holds = says.Traceparent, says.Page, says.Holds
			one.Waited = max(0, now.Sub(says.Since)).Seconds()
		}
		d.Queue = append(d.Queue, one)
	}
	return d
}

func (w waits) longest(f *scanner.WaitedFor, now time.Time) time.Duration {
	return max(0, now.Sub(w.Graph.Resource(f.Resource).Longest()))
}

// text is the column of a lock's row: how many calls wait, and the longest wait.
func (w waits) text(key string, now time.Time) string {
	f := w.of(key)
	switch {
	case f == nil && w.errWaits() != nil:
		return unknown
	case f == nil:
		return "-"
	}
	return fmt.Sprintf("%d, %s", f.Callers, short(w.longest(f, now)))
}

// writeGraph says what the table of locks has no room for: chains and deadlocks.
func (a *app) writeGraph(w waits) error {
	var b strings.Builder
	for _, f := range w.Locks {
		if chain := w.Graph.Chain(f.Resource); len(chain) > 0 {
			fmt.Fprintf(&b, "the holder of %q waits for %s\n", scanner.KeyText(f.Resource), strings.Join(quoted(chain), ", whose holder waits for "))
		}
	}
	for _, d := range w.Deadlocks {
		fmt.Fprintf(&b, "DEADLOCK: %v\n", d)
	}
	if err := w.errWaits(); err != nil {
		fmt.Fprintf(&b, "who waits is not known of every node: %v\n", err)
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

func quoted(names []string) (all []string) {
	for _, name := range names {
		all = append(all, strconv.Quote(name))
	}
	return all
}

// writeWaiters is the table that --waiters adds.
func (a *app) writeWaiters(w waits, now time.Time) error {
	var rows [][]string
	for _, f := range w.Locks {
		for _, q := range w.document(&f, now).Queue {
			name, callers := q.Name, strconv.Itoa(q.Callers)
			if name == "" {
				name, callers = unknown, unknown
			}
			var holds []string
			for _, h := range q.Holds {
				holds = append(holds, h.Resource)
			}
			rows = append(rows, []string{
				scanner.KeyText(f.Resource), name, callers, short(time.Duration(q.Waited * float64(time.Second))), q.CallSite, strings.Join(holds, ", "),
			})
		}
		if more := f.Processes - len(f.Queue); more > 0 {
			rows = append(rows, []string{scanner.KeyText(f.Resource), fmt.Sprintf("... and %d more processes", more), "", "", "", ""})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(a.out); err != nil {
		return err
	}
	head := []string{"WAITED FOR", "WAITER", "CALLERS", "FOR", "AT", "HOLDS"}
	return table.Write(a.out, head, rows, table.Options{Width: terminal(a.out)})
}
