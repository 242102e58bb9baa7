package views

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/pprof/profile"

	"github.com/lockscope/lockscope/exporter/live"
)

// waitProfile is what has been sampled between two moments, for go tool pprof.
type waitProfile struct {
	began, ended time.Time
	every        time.Duration // between samples of what waits; 0: the counts are waits
	samples      []sample
}

// sample is the waits of one stack and one set of labels.
type sample struct {
	stack  []live.ProfileFrame // innermost first; the file of a name that is no function is its place, or empty
	labels []label
	count  int64
	delay  time.Duration
}

// label is a name and a value; pprof calls it a tag. A label without a value is left out.
type label struct{ name, value string }

// write writes the profile, compressed with gzip, with the sample types of Go's mutex profile, or those of a sampler.
// Names may come from anybody: what could break a line or steer a terminal is replaced. It returns the error of w.
func (p waitProfile) write(w io.Writer) error {
	e := newEncoder(p)
	for _, s := range p.samples {
		e.add(s)
	}
	slices.SortStableFunc(e.out.Sample, func(x, y *profile.Sample) int { return cmp.Compare(y.Value[1], x.Value[1]) })
	return e.out.Write(w)
}

// encoder has each function, and each line of it, once.
type encoder struct {
	out       *profile.Profile
	functions map[function]*profile.Function
	locations map[live.ProfileFrame]*profile.Location
}

type function struct{ name, file string }

func newEncoder(p waitProfile) *encoder {
	count := &profile.ValueType{Type: "contentions", Unit: "count"}
	period, every := count, int64(1)
	if p.every > 0 {
		count = &profile.ValueType{Type: "samples", Unit: "count"}
		period, every = &profile.ValueType{Type: "delay", Unit: "nanoseconds"}, p.every.Nanoseconds()
	}
	return &encoder{
		out: &profile.Profile{
			SampleType:        []*profile.ValueType{count, {Type: "delay", Unit: "nanoseconds"}},
			DefaultSampleType: "delay", PeriodType: period, Period: every,
			TimeNanos: p.ended.UnixNano(), DurationNanos: max(p.ended.Sub(p.began), 0).Nanoseconds(),
			// It keeps pprof from looking for symbols.
			Mapping: []*profile.Mapping{{ID: 1, File: filepath.Base(os.Args[0]), HasFunctions: true, HasFilenames: true,
				HasLineNumbers: true}},
		},
		functions: make(map[function]*profile.Function), locations: make(map[live.ProfileFrame]*profile.Location),
	}
}

func (e *encoder) add(s sample) {
	added := &profile.Sample{Value: []int64{s.count, s.delay.Nanoseconds()}, Label: make(map[string][]string)}
	for _, f := range s.stack {
		added.Location = append(added.Location, e.location(f))
	}
	for _, l := range s.labels {
		if l.value != "" {
			added.Label[l.name] = append(added.Label[l.name], printable(l.value))
		}
	}
	e.out.Sample = append(e.out.Sample, added)
}

func (e *encoder) location(f live.ProfileFrame) *profile.Location {
	known := e.locations[f]
	if known == nil {
		known = &profile.Location{
			ID: uint64(len(e.out.Location) + 1), Mapping: e.out.Mapping[0],
			Line: []profile.Line{{Function: e.function(function{f.Function, f.File}), Line: int64(f.Line)}},
		}
		e.locations[f] = known
		e.out.Location = append(e.out.Location, known)
	}
	return known
}

// function leaves out the system name, so that pprof demangles nothing.
func (e *encoder) function(f function) *profile.Function {
	known := e.functions[f]
	if known == nil {
		known = &profile.Function{
			ID: uint64(len(e.out.Function) + 1), Name: printable(f.name), Filename: printable(f.file),
		}
		e.functions[f] = known
		e.out.Function = append(e.out.Function, known)
	}
	return known
}

func printable(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(name, string(unicode.ReplacementChar)))
}
