package main

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	nan := math.NaN()
	peers := []peer{{name: "ours"}, {name: "theirs"}, {name: "floor"}}
	results := []result{
		{row{name: "pair", floor: "floor", unit: latency}, map[string]*cell{
			"ours":   {values: []float64{200e-6, 100e-6, 300e-6}, besides: []float64{90, 96, 97}},
			"theirs": {values: []float64{nan, 50e-6, 20e-6}, besides: []float64{nan, nan, nan}},
			"floor":  {values: []float64{100e-6, 100e-6, 100e-6}, besides: []float64{7, 7, 7}},
		}},
		{row{name: "pairs/s", floor: "floor", unit: costedRate}, map[string]*cell{
			"ours":  {values: []float64{10500}, besides: []float64{38.4e-6}},
			"floor": {values: []float64{0}, besides: []float64{9e-6}},
		}},
		{row{name: "hand-offs/s", floor: "floor", unit: fairRate}, map[string]*cell{
			"ours": {values: []float64{833}, besides: []float64{.996}},
			"theirs": {values: []float64{nan}, besides: []float64{nan},
				failed: failures{12, errors.New("down\nand out")}},
			"floor": {values: []float64{1.4e6}, besides: []float64{1}},
		}},
	}
	var out strings.Builder
	writeTable(&out, peers, results)
	for _, want := range []string{
		"| work        | ours                    | theirs       | floor               |\n",
		"|-------------|-------------------------|--------------|---------------------|\n",
		"| pair        | 200 us (96) x2          | 35 us x0.35  | 100 us (7) floor    |\n",
		"| pairs/s     | 10.5k, 38 us CPU        |              | 0, 9 us CPU floor   |\n",
		"| hand-offs/s | 833, J 1.00 x0.000595   | -, 12 failed | 1.4M, J 1.00 floor  |\n",
		"- theirs, hand-offs/s: 12, the first with \"down; and out\"\n",
	} {
		if !strings.Contains(squeezed(out.String()), squeezed(want)) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	widths := map[int]bool{}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "|") {
			widths[len(line)] = true
		}
	}
	if len(widths) != 1 {
		t.Errorf("not aligned:\n%s", &out)
	}
}

// squeezed leaves the widths of columns to the check of alignment.
func squeezed(s string) string {
	for _, twice := range []string{"  ", "--"} {
		for strings.Contains(s, twice) {
			s = strings.ReplaceAll(s, twice, twice[:1])
		}
	}
	return s
}
