//go:build linux

package vitals

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Trend is how one quantity of a process, or of all processes of a group together, has gone. The first third of a
// process's life is warm-up: caches fill, connections are made. The medians of the other two thirds are compared.
type Trend struct {
	Group, Name  string // Name is "" for all of a group together
	Quantity     Quantity
	Processes    int
	Samples      int
	Second, Last float64 // medians of the second and the last third; of a group, their sums
	Noise        float64 // the larger of the two median absolute deviations
	Slack        float64 // growth that is no finding, beside the noise
}

// Growth is by how much the last third is above the second.
func (t Trend) Growth() float64 { return t.Last - t.Second }

// Allowed is by how much a flat quantity may seem to have grown. A steady leak that adds g from one third to the next
// has a deviation of a quarter of g in each third, so it is found from twice the slack on, however noisy it looks.
func (t Trend) Allowed() float64 { return t.Slack + 2*t.Noise }

// Flat reports that the quantity has not grown.
func (t Trend) Flat() bool { return t.Growth() <= t.Allowed() }

func (t Trend) String() string {
	who := t.Name
	if who == "" {
		who = fmt.Sprintf("all %d of %s together", t.Processes, t.Group)
	}
	return fmt.Sprintf("%s of %s: %s in the second third, %s in the last: %s more, allowed %s", t.Quantity, who,
		t.Quantity.Text(t.Second), t.Quantity.Text(t.Last), t.Quantity.Text(t.Growth()), t.Quantity.Text(t.Allowed()))
}

// Text writes a value with its unit.
func (q Quantity) Text(v float64) string {
	if q.Bytes() {
		return fmt.Sprintf("%.1f MiB", v/(1<<20))
	}
	return fmt.Sprintf("%.0f", v)
}

// slack is what a process may grow by from the second third to the last: a part, and so much beside.
func (q Quantity) slack(of float64) float64 {
	switch q {
	case RSS:
		return of/20 + 8<<20
	case Heap, Used:
		return of/10 + 2<<20
	default:
		return of/20 + 10
	}
}

// ofAll is the part by which the sum over all processes of a group may grow, beside the slack of one process: what is
// noise in one of them evens out.
const ofAll = 0.03

// Least is the life of a process, as a part of the whole time, that can be judged.
const Least = 0.5

// fewest samples make a third.
const fewest = 5

// Judged is what the judge says of a run.
type Judged struct {
	Trends []Trend  // by group, and then by quantity; all of a group together before its processes
	Short  []string // processes whose lives were too short to judge
}

// Judge compares the thirds of each process's life. Processes are distinguished by name: a server that is started again
// goes on.
func Judge(samples []Sample) (j Judged) {
	lives := make(map[string][]Sample)
	whole := span(samples)
	for _, s := range samples {
		lives[s.Name] = append(lives[s.Name], s)
	}
	byGroup := make(map[string][]Trend)
	for _, name := range slices.Sorted(maps.Keys(lives)) {
		life := lives[name]
		if float64(span(life)) < Least*float64(whole) || len(life) < 3*fewest {
			j.Short = append(j.Short, name)
			continue
		}
		for _, q := range Quantities {
			if t, ok := trend(life, q); ok {
				byGroup[t.Group] = append(byGroup[t.Group], t)
			}
		}
	}
	for _, group := range slices.Sorted(maps.Keys(byGroup)) {
		for _, q := range Quantities {
			j.Trends = append(j.Trends, together(byGroup[group], q)...)
		}
	}
	return j
}

// Grown are the trends that are not flat.
func (j Judged) Grown() (all []Trend) {
	for _, t := range j.Trends {
		if !t.Flat() {
			all = append(all, t)
		}
	}
	return all
}

func span(samples []Sample) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	by := func(a, b Sample) int { return cmp.Compare(a.T, b.T) }
	return time.Duration(slices.MaxFunc(samples, by).T - slices.MinFunc(samples, by).T)
}

// trend is of one process.
func trend(life []Sample, q Quantity) (Trend, bool) {
	slices.SortFunc(life, func(a, b Sample) int { return cmp.Compare(a.T, b.T) })
	first, third := life[0].T, int64(span(life))/3
	var second, last []float64
	for _, s := range life {
		v, ok := s.Values[q]
		switch at := s.T - first; {
		case !ok || at < third:
		case at < 2*third:
			second = append(second, v)
		default:
			last = append(last, v)
		}
	}
	if len(second) < fewest || len(last) < fewest {
		return Trend{}, false
	}
	t := Trend{Group: life[0].Group, Name: life[0].Name, Quantity: q, Processes: 1, Samples: len(second) + len(last)}
	t.Second, t.Last = median(second), median(last)
	t.Noise = math.Max(deviation(second), deviation(last))
	t.Slack = q.slack(t.Second)
	return t, true
}

// together are the trend of all processes of a group, if there are several, and then those of each.
func together(of []Trend, q Quantity) (all []Trend) {
	sum := Trend{Quantity: q}
	for _, t := range of {
		if t.Quantity != q {
			continue
		}
		all = append(all, t)
		sum.Group, sum.Processes, sum.Samples = t.Group, sum.Processes+1, sum.Samples+t.Samples
		sum.Second, sum.Last = sum.Second+t.Second, sum.Last+t.Last
		sum.Slack = max(sum.Slack, t.Slack)
	}
	if len(all) > 1 {
		sum.Slack += ofAll * sum.Second
		all = append([]Trend{sum}, all...)
	}
	return all
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// deviation is the median distance from the median.
func deviation(of []float64) float64 {
	middle := median(of)
	var away []float64
	for _, v := range of {
		away = append(away, math.Abs(v-middle))
	}
	return median(away)
}
