//go:build linux

package judge

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/ledger"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/site"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/worker"
)

const second = int64(1e9)

// script makes evidence as workers would have written it: everything is in order unless a test spoils it.
type script struct {
	Evidence
	versions map[string]int64
	ids      int64
}

func newScript(names ...string) *script {
	s := &script{versions: make(map[string]int64)}
	for _, name := range names {
		s.Workers = append(s.Workers, &Worker{Name: name, To: 1000 * second})
	}
	return s
}

func (s *script) event(w int, e history.Event) { s.Workers[w].Events = append(s.Workers[w].Events, e) }

// grant is an Acquire that took from one instant to the other, of a lease that is valid for ten seconds.
func (s *script) grant(w int, fence uint64, from, to int64) (id int64) {
	s.ids++
	s.event(w, history.Event{T: from, Kind: history.Call, ID: s.ids, Resource: "a"})
	s.event(w, history.Event{T: to, Kind: history.Return, ID: s.ids, Resource: "a", Fence: fence, Until: to + 10*second,
		Attempts: 1})
	return s.ids
}

// update reads and writes, and is accepted.
func (s *script) update(w int, id int64, fence uint64, at int64) {
	read := s.versions["a"]
	s.event(w, history.Event{T: at, Kind: history.Write, ID: id, Resource: "a", Fence: fence, Since: at - 1, Until: at +
		second, Version: read})
	s.Entries = append(s.Entries, ledger.Entry{T: at + 1, Resource: "a", Fence: fence, Version: read + 1,
		Worker: s.Workers[w].Name, ID: id})
	s.event(w, history.Event{T: at + 2, Kind: history.Written, ID: id, Resource: "a", Fence: fence, Accepted: true})
	s.versions["a"]++
}

func (s *script) release(w int, id int64, fence uint64, at int64) {
	s.event(w, history.Event{T: at, Kind: history.Release, ID: id, Resource: "a", Fence: fence, Until: at + second})
	s.event(w, history.Event{T: at + 1, Kind: history.Ended, ID: id, Resource: "a", Fence: fence, Outcome: "released",
		Until: at + 1})
	s.event(w, history.Event{T: at + 2, Kind: history.Released, ID: id, Resource: "a", Fence: fence})
}

// lose ends a lease by itself, and tells of it late.
func (s *script) lose(w int, id int64, fence uint64, at, late int64) {
	s.event(w, history.Event{T: at + late, Kind: history.Ended, ID: id, Resource: "a", Fence: fence, Outcome: "lost",
		Until: at, Late: late})
}

// done ends the workers, with metrics and logs that say what their histories do.
func (s *script) done() *Evidence {
	for _, w := range s.Workers {
		if !w.Killed {
			w.Events = append(w.Events, history.Event{T: w.To, Kind: history.Done})
		}
		d := worker.Dump{From: w.To, To: w.To, Last: !w.Killed, Values: make(map[string]float64)}
		for name, b := range w.tally(d).series {
			d.Values[strings.Replace(name, "reason=lost,", "reason=expired,", 1)] = float64(b.least)
		}
		w.Dumps = []worker.Dump{d}
		for _, l := range leasesOf(w) {
			if l.Ended != nil && l.Ended.Outcome == "lost" {
				w.Log = append(w.Log, Record{Msg: "lease lost", Resource: l.Resource, Fence: l.Fence,
					Reason: "expired"})
			}
		}
	}
	return &s.Evidence
}

// good is two workers, three leases and all kinds of ends.
func good() *script {
	s := newScript("w1", "w2")
	first := s.grant(0, 10, 0, second)
	s.update(0, first, 10, 2*second)
	s.release(0, first, 10, 3*second)
	second2 := s.grant(1, 11, second, 4*second)
	s.update(1, second2, 11, 5*second)
	s.lose(1, second2, 11, 14*second, 0)
	third := s.grant(0, 20, 12*second, 15*second)
	s.update(0, third, 20, 16*second)
	s.release(0, third, 20, 17*second)
	return s
}

func TestNothingIsFoundWhereNothingIs(t *testing.T) {
	v := Judge(good().done())
	for _, a := range v.Anomalies {
		t.Error(a)
	}
	if !v.Register.Ok() || v.Register.Operations != 3 || len(v.Leases) != 3 {
		t.Errorf("%d leases; porcupine says %s of %d updates", len(v.Leases), v.Register.Result, v.Register.Operations)
	}
}

// TestPlantedViolations is the negative control of every judge.
func TestPlantedViolations(t *testing.T) {
	for name, c := range map[string]struct {
		judge, text string
		spoil       func(s *script) *Evidence
	}{
		"two valid leases": {Exclusion, "is valid from", func(s *script) *Evidence {
			s.release(1, s.grant(1, 30, 14*second, 16*second), 30, 18*second)
			return s.done()
		}},
		"a lease that ran out before it was released, and another": {Exclusion, "is valid from",
			func(s *script) *Evidence {
				id := s.grant(1, 30, 40*second, 41*second)
				s.lose(1, id, 30, 51*second, 0)
				s.event(1, history.Event{T: 60 * second, Kind: history.Release, ID: id, Resource: "a", Fence: 30})
				s.event(1, history.Event{T: 61 * second, Kind: history.Released, ID: id, Resource: "a", Fence: 30})
				s.release(0, s.grant(0, 31, 44*second, 49*second), 31, 50*second)
				return s.done()
			}},
		"a lease of a process that was killed, and another": {Exclusion, "is valid from", func(s *script) *Evidence {
			s.Workers[1].Killed, s.Workers[1].To = true, 21*second
			s.grant(1, 30, 19*second, 20*second)
			s.release(0, s.grant(0, 31, 28*second, 29*second), 31, 29*second+5)
			return s.done()
		}},
		"a fence that goes back": {Fences, "they go back", func(s *script) *Evidence {
			s.release(1, s.grant(1, 15, 40*second, 41*second), 15, 42*second)
			return s.done()
		}},
		"a fence that is had twice": {Fences, "is had twice", func(s *script) *Evidence {
			s.release(1, s.grant(1, 20, 40*second, 41*second), 20, 42*second)
			return s.done()
		}},
		"a lease that nobody handed over": {Fences, "handed over", func(s *script) *Evidence {
			s.release(1, s.grant(1, 30, 40*second, 41*second), 30, 42*second)
			s.Workers[1].Events[len(s.Workers[1].Events)-4].HandedOver = true
			s.Workers[1].Events[len(s.Workers[1].Events)-4].Fence = 9000 + 30
			return s.done()
		}},
		"a write with an old fence": {Ledger, "was accepted after", func(s *script) *Evidence {
			s.update(1, 2, 11, 18*second)
			return s.done()
		}},
		"a lost update": {Ledger, "lost update", func(s *script) *Evidence {
			s.versions["a"]--
			id := s.grant(1, 30, 40*second, 41*second)
			s.update(1, id, 30, 42*second)
			s.release(1, id, 30, 43*second)
			return s.done()
		}},
		"a lost update, for porcupine": {Ledger, "porcupine", func(s *script) *Evidence {
			s.versions["a"]--
			id := s.grant(1, 30, 40*second, 41*second)
			s.update(1, id, 30, 42*second)
			s.release(1, id, 30, 43*second)
			return s.done()
		}},
		"a write without a lease": {Ledger, "no such lease", func(s *script) *Evidence {
			s.Entries = append(s.Entries, ledger.Entry{T: 50 * second, Resource: "a", Fence: 99, Version: 4,
				Worker: "w2", ID: 77})
			return s.done()
		}},
		"a loss that is told late": {Losses, "told", func(s *script) *Evidence {
			s.lose(1, s.grant(1, 30, 40*second, 41*second), 30, 51*second, second/2)
			return s.done()
		}},
		"a loss that is never told": {Losses, "not told until", func(s *script) *Evidence {
			s.grant(1, 30, 40*second, 41*second)
			return s.done()
		}},
		"a write by one that has not looked": {Losses, "without having seen", func(s *script) *Evidence {
			s.Workers[0].Events[2].Until = 0
			return s.done()
		}},
		"a counter off by one": {Telemetry, "the metrics of w1 say 3", func(s *script) *Evidence {
			e := s.done()
			e.Workers[0].Dumps[0].Values["acquisitions_total{outcome=acquired,resource=a}"]++
			return e
		}},
		"a counter of a killed worker off by one": {Telemetry, "the metrics of w1 say 3", func(s *script) *Evidence {
			s.Workers[0].Killed = true
			e := s.done()
			e.Workers[0].Dumps[0].Values["acquisitions_total{outcome=acquired,resource=a}"]++
			return e
		}},
		"a loss that is not counted": {Telemetry, "lost_total", func(s *script) *Evidence {
			e := s.done()
			delete(e.Workers[1].Dumps[0].Values, "lost_total{reason=expired,resource=a}")
			return e
		}},
		"a lease that is held for ever": {Telemetry, "held{", func(s *script) *Evidence {
			e := s.done()
			e.Workers[1].Dumps[0].Values["held{resource=a}"] = 1
			return e
		}},
		"a loss that is not logged": {Telemetry, "the log does not tell", func(s *script) *Evidence {
			e := s.done()
			e.Workers[1].Log = nil
			return e
		}},
		"a loss that is logged and did not happen": {Telemetry, "knows nothing", func(s *script) *Evidence {
			e := s.done()
			e.Workers[0].Log = []Record{{Msg: "lease lost", Resource: "a", Fence: 20}}
			return e
		}},
		"a lock that is left": {Leaks, "still on n1", func(s *script) *Evidence {
			s.Left = []site.Leftover{{Node: "n1", Key: "lock:a"}}
			return s.done()
		}},
		"a node that nobody could look at": {Leaks, "not looked at: n3", func(s *script) *Evidence {
			s.Unseen = errors.New("n3: connection refused")
			return s.done()
		}},
		"a goroutine that is left": {Leaks, "goroutines", func(s *script) *Evidence {
			e := s.done()
			e.Workers[0].Events[len(e.Workers[0].Events)-1].Text = "one"
			return e
		}},
	} {
		t.Run(name, func(t *testing.T) { wantAnomaly(t, Judge(c.spoil(good())), c.judge, c.text) })
	}
}

func wantAnomaly(t *testing.T, v Verdict, judge, text string) {
	t.Helper()
	for _, a := range v.Anomalies {
		if a.Judge == judge && strings.Contains(a.String(), text) {
			return
		}
	}
	t.Errorf("nothing of %q with %q in %d anomalies: %v", judge, text, len(v.Anomalies), v.Anomalies)
}
