//go:build linux

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/viewers"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/vitals"
)

// Soak is what was seen of the processes while a soak went on.
type Soak struct {
	Judged  vitals.Judged
	Samples []vitals.Sample
	Every   time.Duration
	Seen    viewers.Seen

	Scrapes, ScrapeBytes, FailedScrapes int
}

func (s *Soak) write(b *strings.Builder) {
	if s == nil {
		return
	}
	fmt.Fprintf(b, "## Views\n\n")
	mib := func(n int64) string { return thousands(int(n>>20)) + " MiB" }
	fmt.Fprintf(b, "- Scrapes of `/metrics`: %s, %s; %s were not answered, of processes that were stopped or starved.\n",
		thousands(s.Scrapes), mib(int64(s.ScrapeBytes)), thousands(s.FailedScrapes))
	fmt.Fprintf(b, "- Streams of live pages: %s documents, %s, opened %d times.\n",
		thousands(int(s.Seen.Pages.Documents)), mib(s.Seen.Pages.Bytes), s.Seen.Pages.Opened)
	fmt.Fprintf(b, "- Stream of the scanner's page: %s documents, %s, opened %d times.\n",
		thousands(int(s.Seen.Scanner.Documents)), mib(s.Seen.Scanner.Bytes), s.Seen.Scanner.Opened)
	fmt.Fprintf(b, "- The fleet page, over all processes: %s documents, %s.\n",
		thousands(int(s.Seen.Fleet.Documents)), mib(s.Seen.Fleet.Bytes))
	fmt.Fprintf(b, "- The history of a process: %s documents, %s.\n",
		thousands(int(s.Seen.History.Documents)), mib(s.Seen.History.Bytes))
	fmt.Fprintf(b, "- `lockscope top` drew %s.\n\n", mib(s.Seen.TopBytes))
	s.trends(b)
	s.sixths(b)
}

// trends is a line for each quantity of a group: all processes, and the one that grew most.
func (s *Soak) trends(b *strings.Builder) {
	fmt.Fprintf(b, "## What the processes used\n\nOne look every %v. The first third of each process's life is warm-up; "+
		"the medians of its second and last third are compared, and summed where there are several processes. "+
		"Slack and noise are what may be more.\n\n", s.Every.Round(100*time.Millisecond))
	fmt.Fprintln(b, "| processes | | second third | last third | growth | allowed | most in one process | allowed | |")
	fmt.Fprintln(b, "|---|---|---|---|---|---|---|---|---|")
	for i := 0; i < len(s.Judged.Trends); {
		all := s.Judged.Trends[i]
		one, flat := all, all.Flat()
		for i++; i < len(s.Judged.Trends); i++ {
			t := s.Judged.Trends[i]
			if t.Group != all.Group || t.Quantity != all.Quantity {
				break
			}
			flat = flat && t.Flat()
			if one.Name == "" || t.Growth()-t.Allowed() > one.Growth()-one.Allowed() {
				one = t
			}
		}
		text := all.Quantity.Text
		verdict := "flat"
		if !flat {
			verdict = "**grows**"
		}
		fmt.Fprintf(b, "| %s (%d) | %s | %s | %s | %s | %s | %s | %s | %s |\n", all.Group, all.Processes, all.Quantity,
			text(all.Second), text(all.Last), text(all.Growth()), text(all.Allowed()), text(one.Growth()),
			text(one.Allowed()), verdict)
	}
	if len(s.Judged.Short) > 0 {
		fmt.Fprintf(b, "\n%d processes lived too short to be judged.\n", len(s.Judged.Short))
	}
	fmt.Fprintln(b)
}

// parts is into how many the time is cut for the table of values over time.
const parts = 6

// sixths is the median of one process over time.
func (s *Soak) sixths(b *strings.Builder) {
	if len(s.Samples) == 0 {
		return
	}
	byTime := func(x, y vitals.Sample) int { return cmp.Compare(x.T, y.T) }
	first := slices.MinFunc(s.Samples, byTime).T
	whole := slices.MaxFunc(s.Samples, byTime).T - first + 1
	type row struct {
		group    string
		quantity vitals.Quantity
	}
	values := make(map[row]*[parts][]float64)
	for _, one := range s.Samples {
		part := (one.T - first) * parts / whole
		for q, v := range one.Values {
			at := row{one.Group, q}
			if values[at] == nil {
				values[at] = new([parts][]float64)
			}
			values[at][part] = append(values[at][part], v)
		}
	}
	fmt.Fprint(b, "The median of a process of each group, in each sixth of the time:\n\n| processes | |")
	for i := range parts {
		fmt.Fprintf(b, " %d |", i+1)
	}
	fmt.Fprintf(b, "\n|---|---|%s\n", strings.Repeat("---|", parts))
	for _, at := range slices.SortedFunc(maps.Keys(values), func(x, y row) int {
		return cmp.Or(cmp.Compare(x.group, y.group),
			cmp.Compare(slices.Index(vitals.Quantities, x.quantity), slices.Index(vitals.Quantities, y.quantity)))
	}) {
		fmt.Fprintf(b, "| %s | %s |", at.group, at.quantity)
		for _, part := range values[at] {
			if len(part) == 0 {
				fmt.Fprint(b, " |")
				continue
			}
			slices.Sort(part)
			fmt.Fprintf(b, " %s |", at.quantity.Text(part[len(part)/2]))
		}
		fmt.Fprintln(b)
	}
	fmt.Fprintln(b)
}
