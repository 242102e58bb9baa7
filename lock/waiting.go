package lock

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Waiting is what a process that queues for a resource says of itself, beside its place:
// with [Holder], the graph of who blocks whom can be read off the nodes.
type Waiting struct {
	Holder         // Since is when the call in front began to wait
	Callers int    // of this process that wait for the resource
	Holds   []Held // by any of them, at most [MaxHolds]
	Backend string // what the process calls the nodes; "" in what was written before there was this
}

const (
	// MaxHolds bounds how many leases a queue entry names.
	MaxHolds = 16
	// publishAfter is how long a call has waited before its process says more of itself
	// than its place: hand-offs that take no time need not pay for it.
	publishAfter = 100 * time.Millisecond
)

// append adds the form in which it travels: a line of instance|since in
// ms|traceparent|callers|call site|page|name of the nodes, and one of fence, resource and, after a tab, what
// other set of nodes it is on, for each lease held.
func (w Waiting) append(b []byte) []byte {
	b = w.appendFirst(b)
	b = append(strconv.AppendInt(append(b, '|'), int64(w.Callers), 10), '|')
	b = w.appendRest(b)
	if w.Backend != "" {
		b = append(append(b, '|'), safeText(w.Backend, maxInstanceLength)...)
	}
	for _, h := range w.Holds[:min(len(w.Holds), MaxHolds)] {
		b = strconv.AppendUint(append(b, '\n'), h.Fence, 10)
		b = append(append(b, ' '), h.Resource...)
		if h.Backend != "" {
			b = append(append(b, '\t'), safeText(h.Backend, maxInstanceLength)...)
		}
	}
	return b
}

// ParseWaiting reads what a queue entry says. Further fields of the first line, which a
// later version may add, are ignored, and so are leases whose resource is no valid name.
func ParseWaiting(record string) (Waiting, error) {
	lines := strings.Split(record, "\n")
	holder, err := ParseHolder(lines[0])
	if err != nil {
		return Waiting{}, err
	}
	w := Waiting{Holder: holder}
	fields := strings.SplitN(lines[0], "|", 8)
	if len(fields) < 4 {
		return Waiting{}, fmt.Errorf("lock: queue entry has %d fields, at least 4 expected", len(fields))
	}
	if w.Callers, err = strconv.Atoi(fields[3]); err != nil || w.Callers < 0 {
		return Waiting{}, fmt.Errorf("lock: queue entry's number of callers is not a number")
	}
	if len(fields) > 6 {
		w.Backend = safeText(fields[6], maxInstanceLength)
	}
	for _, line := range lines[1:min(len(lines), 1+MaxHolds)] {
		number, held, _ := strings.Cut(line, " ")
		resource, backend, _ := strings.Cut(held, "\t")
		fence, err := strconv.ParseUint(number, 10, 64)
		if err != nil || ValidateResource(resource) != nil {
			continue
		}
		w.Holds = append(w.Holds, Held{Resource: resource, Fence: fence, Backend: safeText(backend, maxInstanceLength)})
	}
	return w, nil
}

// entry is what this process says of itself in the queue; "" as long as it has not waited.
func (a *acquisition) entry() string {
	waited := time.Since(a.began)
	if a.opts.NoWait || waited < publishAfter {
		return ""
	}
	w := Waiting{Holder: a.engine.holder(time.Now().Add(-waited), a.origin), Callers: 1, Holds: a.engine.published(a.graph.leases), Backend: a.engine.backend.Name}
	for _, held := range a.queue.holdings() {
		w.Callers++
		w.Holds = append(w.Holds, a.engine.published(held)...)
	}
	return string(w.append(nil))
}

// published are leases as a queue entry names them: without the set of nodes if it is the
// queue's, whatever the lease's engine calls it.
func (e *Engine) published(leases []*lease) []Held {
	all := heldBy(leases)
	for i := range all {
		if all[i].Keyspace == e.backend.Keyspace {
			all[i].Backend = ""
		}
	}
	return all
}
