package validate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
)

// File is a valid trace.
type File struct {
	DisplayTimeUnit string            `json:"displayTimeUnit"`
	OtherData       map[string]string `json:"otherData"`
	Events          []Event           `json:"traceEvents"`
}

// Event is one event, with times in nanoseconds.
type Event struct {
	Name, Cat, Phase, ID, Bind, Scope, Color string
	Pid, Tid                                 int
	At, Took                                 int64
	Args                                     map[string]any
}

// End is when a slice ends.
func (e *Event) End() int64 { return e.At + e.Took }

// raw is an event as the file has it: nil is a missing field.
type raw struct {
	Name  *string          `json:"name"`
	Cat   string           `json:"cat"`
	Phase string           `json:"ph"`
	At    *json.RawMessage `json:"ts"`
	Took  *json.RawMessage `json:"dur"`
	Pid   *int             `json:"pid"`
	Tid   *int             `json:"tid"`
	ID    *string          `json:"id"`
	Bind  string           `json:"bp"`
	Scope string           `json:"s"`
	Color string           `json:"cname"`
	Args  map[string]any   `json:"args"`
}

// Read parses and checks a file. It returns the file as well as the errors, at most 20.
func Read(data []byte) (File, []error) {
	var f struct {
		File
		Events []raw `json:"traceEvents"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return File{}, []error{fmt.Errorf("not a trace: %w", err)}
	}
	c := &checker{}
	if f.DisplayTimeUnit != "ms" && f.DisplayTimeUnit != "ns" {
		c.fail("displayTimeUnit is %q: it must be ms or ns", f.DisplayTimeUnit)
	}
	if f.Events == nil {
		c.fail("there is no traceEvents")
	}
	for i := range f.Events {
		f.File.Events = append(f.File.Events, c.event(i, &f.Events[i]))
	}
	c.whole(f.File.Events)
	return f.File, c.errs
}

// nanos reads microseconds; a viewer reads them as a float64, which has no more than three exact decimals.
func nanos(n json.RawMessage) (int64, error) {
	micros, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return 0, fmt.Errorf("%s is no number", n)
	}
	ns := micros.Mul(micros, big.NewRat(1000, 1))
	if !ns.IsInt() || !ns.Num().IsInt64() {
		return 0, fmt.Errorf("%s microseconds are no whole number of nanoseconds", n)
	}
	return ns.Num().Int64(), nil
}
