package views

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// frame is one line of a stack.
type frame struct {
	name string
	site string // file:line; empty if unknown
}

// waitProfile is a profile of waiting in the format of pprof, with the sample types of Go's mutex profile.
type waitProfile struct {
	*profile.Profile
	functions map[frame]*profile.Location
}

func newChains(from time.Time, took time.Duration) *waitProfile {
	waits := &profile.Mapping{ID: 1, File: "lock waits", HasFunctions: true} // what pprof's pages are called
	return &waitProfile{
		Profile: &profile.Profile{
			Mapping:           []*profile.Mapping{waits},
			SampleType:        []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
			DefaultSampleType: "delay",
			TimeNanos:         from.UnixNano(), DurationNanos: took.Nanoseconds(),
			PeriodType: &profile.ValueType{Type: "delay", Unit: "nanoseconds"}, Period: time.Second.Nanoseconds(),
		},
		functions: make(map[frame]*profile.Location),
	}
}

// add adds a stack, the outermost frame first. Empty labels are left out.
func (p *waitProfile) add(stack []frame, count int64, delay time.Duration, labels map[string][]string) {
	s := &profile.Sample{Value: []int64{count, delay.Nanoseconds()}, Label: make(map[string][]string)}
	for i := len(stack) - 1; i >= 0; i-- { // pprof has the innermost first
		s.Location = append(s.Location, p.location(stack[i]))
	}
	for name, values := range labels {
		if values[0] != "" {
			s.Label[name] = values
		}
	}
	p.Sample = append(p.Sample, s)
}

func (p *waitProfile) location(f frame) *profile.Location {
	if known := p.functions[f]; known != nil {
		return known
	}
	file, line := f.site, int64(0)
	if at := strings.LastIndexByte(f.site, ':'); at >= 0 {
		if n, err := strconv.ParseInt(f.site[at+1:], 10, 32); err == nil {
			file, line = f.site[:at], n
		}
	}
	id := uint64(len(p.Location) + 1)
	fn := &profile.Function{ID: id, Name: f.name, SystemName: f.name, Filename: file}
	l := &profile.Location{ID: id, Mapping: p.Mapping[0], Line: []profile.Line{{Function: fn, Line: line}}}
	p.Function, p.Location = append(p.Function, fn), append(p.Location, l)
	p.functions[f] = l
	return l
}

// writeChains answers with a compressed profile.
func writeChains(w http.ResponseWriter, p *waitProfile, filename string) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+filename+`"`)
	h.Set("Cache-Control", "no-store")
	_ = p.Write(w) // the client has gone: nobody to report to
}
