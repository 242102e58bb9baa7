package traceevent

import (
	"strconv"
	"time"
)

// The phases that a Trace uses.
const (
	phaseComplete  = "X"
	phaseInstant   = "i"
	phaseMetadata  = "M"
	phaseFlowStart = "s"
	phaseFlowStep  = "t"
	phaseFlowEnd   = "f"
)

// Args are an event's further values. Do not change them once they are added.
type Args map[string]any

// event is one element of traceEvents.
type event struct {
	Name  string  `json:"name"`
	Cat   string  `json:"cat,omitempty"`
	Phase string  `json:"ph"`
	At    micros  `json:"ts"`
	Took  *micros `json:"dur,omitempty"`
	Pid   int     `json:"pid"`
	Tid   int     `json:"tid"`
	ID    string  `json:"id,omitempty"`
	Bind  string  `json:"bp,omitempty"`
	Scope string  `json:"s,omitempty"`
	Color string  `json:"cname,omitempty"`
	Args  Args    `json:"args,omitempty"`
}

func (e *event) end() micros {
	if e.Took == nil {
		return e.At
	}
	return e.At + *e.Took
}

// micros is a duration in JSON, in microseconds.
type micros time.Duration

// MarshalJSON implements json.Marshaler. It writes a plain decimal number without an exponent.
func (m micros) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt(nil, int64(m/1000), 10)
	if rest := int64(m % 1000); rest != 0 {
		b = append(b, '.')
		for digit := int64(100); digit > 0 && rest > 0; digit /= 10 {
			b = append(b, byte('0'+rest/digit))
			rest %= digit
		}
	}
	return b, nil
}

// Colors of slices in chrome://tracing; "" lets the viewer choose by name. Perfetto ignores them.
const (
	ColorLost   = "terrible"
	ColorFailed = "bad"
)

// Slice is a stretch of time on a thread.
type Slice struct {
	Name, Cat  string
	Start, End time.Duration
	Color      string
	Args       Args
}

// Instant is a moment on a thread.
type Instant struct {
	Name, Cat string
	At        time.Duration
	Args      Args
}
