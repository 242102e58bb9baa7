package records

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/lock"
)

// Waiting is what a process that queues for a resource says of itself, beside its place:
// with [lock.Holder], the graph of who blocks whom can be read off the nodes.
type Waiting struct {
	lock.Holder                  // Since is when the call in front began to wait
	Callers     int              // of this process that wait for the resource
	Holds       []lock.HeldLease // by any of them, at most [MaxHolds]
	Backend     string           // what the process calls the nodes; "" in what was written before there was this
}

// MaxHolds bounds how many leases a queue entry names.
const MaxHolds = 16

// Append adds the form in which it travels. The first line is instance|since in ms|traceparent|callers|call
// site|page, then |name of the nodes if that or the kind is known, then |kind or |kind:slots if it has a kind. Each
// lease held adds a line of fence, resource and, after a tab, what other set of nodes it is on.
func (w Waiting) Append(b []byte) []byte {
	b = appendFirst(b, w.Holder)
	b = append(strconv.AppendInt(append(b, '|'), int64(w.Callers), 10), '|')
	b = appendRest(b, w.Holder)
	if w.Backend != "" || w.Kind != "" {
		b = append(append(b, '|'), safeText(w.Backend, maxInstanceLength)...)
	}
	b = appendKind(b, w.Holder)
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
	w.Kind, w.Slots, w.Reason = "", 0, "" // a holder's record has the kind where this one has the name of the nodes
	fields := strings.SplitN(lines[0], "|", 9)
	if len(fields) < 4 {
		return Waiting{}, fmt.Errorf("lock: queue entry has %d fields, at least 4 expected", len(fields))
	}
	if w.Callers, err = strconv.Atoi(fields[3]); err != nil || w.Callers < 0 {
		return Waiting{}, fmt.Errorf("lock: queue entry's number of callers is not a number")
	}
	if len(fields) > 6 {
		w.Backend = safeText(fields[6], maxInstanceLength)
	}
	if len(fields) > 7 {
		w.Kind, w.Slots = parseKind(fields[7])
	}
	for _, line := range lines[1:min(len(lines), 1+MaxHolds)] {
		number, held, _ := strings.Cut(line, " ")
		resource, backend, _ := strings.Cut(held, "\t")
		fence, err := strconv.ParseUint(number, 10, 64)
		if err != nil || lock.ValidateResource(resource) != nil {
			continue
		}
		w.Holds = append(w.Holds, lock.HeldLease{Resource: resource, Fence: fence,
			Backend: safeText(backend, maxInstanceLength)})
	}
	return w, nil
}
