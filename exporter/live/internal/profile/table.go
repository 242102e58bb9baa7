package profile

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
)

// sample is what a row adds up: how many waits, and their time.
type sample struct {
	count float64
	took  time.Duration
}

func (s sample) times(scale float64) sample {
	return sample{s.count * scale, time.Duration(float64(s.took) * scale)}
}

// row is a sample since the start, and of the last minutes if somebody asks for them.
type row struct {
	sample
	recent *[minutes]slot
}

// minutes is how far back the samples of single minutes go.
const minutes = 10

// slot is the sample of one minute.
type slot struct {
	sample
	minute int64
}

func (s *sample) add(more sample) {
	s.count += more.count
	s.took += more.took
}

// at is the sample of a minute.
func (r *row) at(minute int64) *sample {
	if r.recent == nil {
		r.recent = new([minutes]slot)
	}
	s := &r.recent[minute%minutes]
	if s.minute != minute {
		*s = slot{minute: minute}
	}
	return &s.sample
}

// lately is the sum of the last minutes.
func (r *row) lately(now int64) (sum sample) {
	if r.recent == nil {
		return sum
	}
	for _, s := range r.recent {
		if now-s.minute < minutes {
			sum.add(s.sample)
		}
	}
	return sum
}

// table has at most maxRows rows, plus those that the others are added to.
type table[K comparable] struct {
	rows  map[K]*row
	own   func(K) K // a key with its own copies of names
	other func(K) K // the row that a row is added to when the table is full
}

func newTable[K comparable](own, other func(K) K) table[K] {
	return table[K]{rows: make(map[K]*row), own: own, other: other}
}

// row returns the row of k.
func (t *table[K]) row(k K, minute int64) *row {
	if r, ok := t.rows[k]; ok {
		return r
	}
	if len(t.rows) >= maxRows {
		t.fold(minute)
	}
	r := new(row)
	t.rows[t.own(k)] = r
	return r
}

// fold keeps half of the rows for their time since the start, and a quarter for their time in the last minutes: the
// holder of an incident shows beside those of a month. It adds up the others.
func (t *table[K]) fold(minute int64) {
	type ranked struct {
		key    K
		row    *row
		lately time.Duration
	}
	all := make([]ranked, 0, len(t.rows))
	for k, r := range t.rows {
		all = append(all, ranked{k, r, r.lately(minute).took})
	}
	slices.SortFunc(all, func(x, y ranked) int { return cmp.Compare(y.row.took, x.row.took) })
	rest := all[min(maxRows/2, len(all)):]
	slices.SortFunc(rest, func(x, y ranked) int { return cmp.Compare(y.lately, x.lately) })
	for _, x := range rest[min(maxRows/4, len(rest)):] {
		to := t.other(x.key)
		if to == x.key {
			continue
		}
		delete(t.rows, x.key)
		sum := t.rows[to]
		if sum == nil {
			sum = new(row)
			t.rows[to] = sum
		}
		sum.add(x.row.sample)
	}
}

// copy returns the sums at this moment.
func (t *table[K]) copy() map[K]sample {
	all := make(map[K]sample, len(t.rows))
	for k, r := range t.rows {
		all[k] = r.sample
	}
	return all
}

func cloned(of text.ID) text.ID {
	return text.ID{Backend: strings.Clone(of.Backend), Resource: strings.Clone(of.Resource)}
}
