package profile

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock/locktrace"
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

// key is what time is charged to: of a waiter by its stack, or behind a holder.
type key struct {
	of     text.ID
	class  locktrace.Wait
	Holder        // of a waiter only its instance, and the call site of the waiter if there is no stack
	stack  *Stack // of a waiter; nil: not known, or one of many
}

// table has at most maxRows rows, plus those that the others are added to.
type table map[key]*row

func (t table) row(k key, minute int64) *row {
	if r, ok := t[k]; ok {
		return r
	}
	if len(t) >= maxRows {
		t.fold(minute)
	}
	k.of = text.ID{Backend: strings.Clone(k.of.Backend), Resource: strings.Clone(k.of.Resource)}
	k.Instance, k.CallSite = strings.Clone(k.Instance), strings.Clone(k.CallSite)
	r := new(row)
	t[k] = r
	return r
}

// fold keeps half of the rows for their time since the start, and a quarter for their time in the last minutes: the
// holder of an incident shows beside those of a month. It adds up the others.
func (t table) fold(minute int64) {
	type ranked struct {
		key    key
		row    *row
		lately time.Duration
	}
	all := make([]ranked, 0, len(t))
	for k, r := range t {
		all = append(all, ranked{k, r, r.lately(minute).took})
	}
	slices.SortFunc(all, func(x, y ranked) int { return cmp.Compare(y.row.took, x.row.took) })
	rest := all[min(maxRows/2, len(all)):]
	slices.SortFunc(rest, func(x, y ranked) int { return cmp.Compare(y.lately, x.lately) })
	for _, x := range rest[min(maxRows/4, len(rest)):] {
		to := key{class: x.key.class, Holder: Holder{kind: otherHolders}}
		if x.key.kind >= waiter {
			to.kind = otherWaiters
		}
		if to == x.key {
			continue
		}
		delete(t, x.key)
		sum := t[to]
		if sum == nil {
			sum = new(row)
			t[to] = sum
		}
		sum.add(x.row.sample)
	}
}

// copy returns the sums at this moment.
func (t table) copy() map[key]sample {
	all := make(map[key]sample, len(t))
	for k, r := range t {
		all[k] = r.sample
	}
	return all
}
