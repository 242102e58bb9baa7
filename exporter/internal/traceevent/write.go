package traceevent

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"
	"time"
)

// checkEvery is after how many events Write looks at its context.
const checkEvery = 256

// Start is the time of the earliest event, which Write makes the zero of the trace.
func (t *Trace) Start() time.Duration { return t.earlier }

// Write writes the trace, with other as its otherData. It stops with ctx, and returns the error of ctx or of w. Events
// are in the order of time, a slice before those inside it.
func (t *Trace) Write(ctx context.Context, w io.Writer, other map[string]string) error {
	slices.SortStableFunc(t.events, func(x, y event) int {
		return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(rank(&x), rank(&y)), cmp.Compare(y.end(), x.end()))
	})
	out := bufio.NewWriterSize(w, 64<<10)
	head, err := json.Marshal(other)
	if err != nil {
		return err
	}
	_, _ = out.WriteString(`{"displayTimeUnit":"ms","otherData":`)
	_, _ = out.Write(head)
	_, _ = out.WriteString(`,"traceEvents":[`)
	separator := "\n"
	for _, list := range [][]event{t.meta, t.events} {
		for i := range list {
			if i%checkEvery == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			line, err := json.Marshal(t.fromStart(list[i]))
			if err != nil {
				return err
			}
			_, _ = out.WriteString(separator)
			_, _ = out.Write(line)
			separator = ",\n"
		}
	}
	_, _ = out.WriteString("\n]}\n")
	return out.Flush() // the error of any write
}

func (t *Trace) fromStart(e event) event {
	if e.Phase != phaseMetadata {
		e.At -= micros(t.earlier)
	}
	return e
}

// rank puts slices before the arrows and instants inside them.
func rank(e *event) int {
	if e.Phase == phaseComplete {
		return 0
	}
	return 1
}
