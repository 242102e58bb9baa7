package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lockscope/lockscope/lock/proof/mutate/bugs"
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

// killer is the test, or what became of the bug instead.
func (r result) killer() string {
	if r.verdict == killed {
		return r.Killer.Run
	}
	return fmt.Sprintf("%s (%s)", r.verdict, r.Killer.Run)
}

func (s summary) text(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "#\tbug\tfile\tkilled by\ttime")
	for i, r := range s.results {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%.1f s\n", i+1, r.Bug, r.File, r.killer(), r.took.Seconds())
	}
	_ = w.Flush()
	s.details(out)
	fmt.Fprintln(out, s.line())
}

func (s summary) markdown(out io.Writer) {
	fmt.Fprintf(out, "%s\n\n", s.line())
	fmt.Fprintf(out, "| # | bug | what comes of it | file | killed by | time |\n|---|---|---|---|---|---|\n")
	for i, r := range s.results {
		fmt.Fprintf(out, "| %d | %s | %s | `%s` | `%s` | %.1f s |\n",
			i+1, cell(r.Bug), cell(cmp.Or(r.Equivalent, r.Why)), fileCell(r.Mutant), cell(r.killer()),
			r.took.Seconds())
	}
	s.details(out)
}

// fileCell names the file of a bug from lock on.
func fileCell(m bugs.Mutant) string { return strings.TrimPrefix(m.File, "lock/") }

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// details are of what did not go as it should.
func (s summary) details(out io.Writer) {
	for i, r := range s.results {
		if r.err != nil {
			fmt.Fprintf(out, "\n%d %s: %v\n", i+1, r.Bug, tail(r.err.Error(), 40))
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
