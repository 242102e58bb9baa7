// Package pprof writes samples of waits in the format that go tool pprof reads.
package pprof

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
)

// Profile is what has been sampled between two moments.
type Profile struct {
	Began, Ended time.Time
	Every        time.Duration // between samples of what waits; 0: the counts are waits
	Samples      []Sample
}

// Sample is the waits of one stack and one set of labels.
type Sample struct {
	Stack  []Frame // innermost first
	Labels []Label
	Count  int64
	Delay  time.Duration
}

// Frame is a line of a function. A function may be anything that a reader shall see as one; then File is the place that
// it stands for, or empty.
type Frame struct {
	Function, File string
	Line           int
}

// Label is a name and a value; pprof calls it a tag. A Label without a value is left out.
type Label struct{ Name, Value string }

// Write writes a Profile, compressed with gzip, with the sample types of Go's mutex profile, or those of a sampler.
// Names may come from anybody: what could break a line or steer a terminal is replaced. Write returns the error of w.
func Write(w io.Writer, p Profile) error {
	e := newEncoder(p)
	for _, s := range p.Samples {
		e.add(s)
	}
	slices.SortStableFunc(e.out.Sample, func(x, y *profile.Sample) int { return cmp.Compare(y.Value[1], x.Value[1]) })
	return e.out.Write(w)
}

// encoder has each function, and each line of it, once.
type encoder struct {
	out       *profile.Profile
	functions map[function]*profile.Function
	locations map[Frame]*profile.Location
}

type function struct{ name, file string }

func newEncoder(p Profile) *encoder {
	count := &profile.ValueType{Type: "contentions", Unit: "count"}
	period, every := count, int64(1)
	if p.Every > 0 {
		count = &profile.ValueType{Type: "samples", Unit: "count"}
		period, every = &profile.ValueType{Type: "delay", Unit: "nanoseconds"}, p.Every.Nanoseconds()
	}
	return &encoder{
		out: &profile.Profile{
			SampleType:        []*profile.ValueType{count, {Type: "delay", Unit: "nanoseconds"}},
			DefaultSampleType: "delay", PeriodType: period, Period: every,
			TimeNanos: p.Ended.UnixNano(), DurationNanos: max(p.Ended.Sub(p.Began), 0).Nanoseconds(),
			// It keeps pprof from looking for symbols.
			Mapping: []*profile.Mapping{{ID: 1, File: filepath.Base(os.Args[0]), HasFunctions: true, HasFilenames: true,
				HasLineNumbers: true}},
		},
		functions: make(map[function]*profile.Function), locations: make(map[Frame]*profile.Location),
	}
}

func (e *encoder) add(s Sample) {
	added := &profile.Sample{Value: []int64{s.Count, s.Delay.Nanoseconds()}, Label: make(map[string][]string)}
	for _, f := range s.Stack {
		added.Location = append(added.Location, e.location(f))
	}
	for _, l := range s.Labels {
		if l.Value != "" {
			added.Label[l.Name] = append(added.Label[l.Name], printable(l.Value))
		}
	}
	e.out.Sample = append(e.out.Sample, added)
}

func (e *encoder) location(f Frame) *profile.Location {
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
