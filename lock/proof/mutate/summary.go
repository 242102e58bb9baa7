package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// summary is what a run of the gate has shown.
type summary struct {
	results []result
	took    time.Duration
}

func (s summary) count(v verdict) (n int) {
	for _, r := range s.results {
		if r.verdict == v {
			n++
		}
	}
	return n
}

// err is nil if every bug was killed, but for those that are equivalent.
func (s summary) err() error {
	if n, m := s.count(survived), s.count(failed); n+m > 0 {
		return fmt.Errorf("%d bugs survived, %d could not be tried", n, m)
	}
	return nil
}

// line says how many of how many.
func (s summary) line() string {
	line := fmt.Sprintf("%d bugs planted, %d killed, %d survived", len(s.results)-s.count(same), s.count(killed),
		s.count(survived))
	if n := s.count(failed); n > 0 {
		line += fmt.Sprintf(", %d could not be tried", n)
	}
	if n := s.count(same); n > 0 {
		line += fmt.Sprintf("; %d more are equivalent, as argued", n)
	}
	return line + fmt.Sprintf("; %v", s.took.Round(time.Second))
}

// killedBy is the test, or what became of the bug instead.
func (r result) killedBy() string {
	if r.verdict == killed {
		return r.killer.run
	}
	return fmt.Sprintf("%s (%s)", r.verdict, r.killer.run)
}

func (s summary) text(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "bug\tfile\tkilled by\ttime")
	for _, r := range s.results {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.1f s\n", r.name, r.file, r.killedBy(), r.took.Seconds())
	}
	_ = w.Flush()
	s.details(out)
	fmt.Fprintln(out, s.line())
}

// details are of what did not go as it should.
func (s summary) details(out io.Writer) {
	for _, r := range s.results {
		if r.err != nil {
			fmt.Fprintf(out, "\n%s: %v\n", r.name, tail(r.err.Error(), 40))
		}
	}
}

// tail are the last lines of a text.
func tail(text string, lines int) string {
	all := slices.Collect(strings.Lines(text))
	if len(all) <= lines {
		return text
	}
	return all[0] + "...\n" + strings.Join(all[len(all)-lines:], "")
}
