//go:build linux

package judge

import (
	"testing"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
)

// TestWhatIsNoViolation is what a careless judge would find.
func TestWhatIsNoViolation(t *testing.T) {
	for name, spoil := range map[string]func(s *script){
		"the next lease begins in the instant of a release": func(s *script) {
			s.release(1, s.grant(1, 30, 16*second, 17*second+1), 30, 18*second)
		},
		"a loss is told late, by a process that did not run": func(s *script) {
			id := s.grant(1, 30, 40*second, 41*second)
			s.event(1, history.Event{T: 60 * second, Kind: history.Stall, Since: 50 * second})
			s.lose(1, id, 30, 51*second, 9*second)
		},
		"a quorum said no before validity ended, and another has it": func(s *script) {
			id := s.grant(1, 30, 40*second, 41*second)
			s.event(1, history.Event{T: 44 * second, Kind: history.Renewed, ID: id, Resource: "a", Since: 43 * second,
				Outcome: "lost"})
			s.event(1, history.Event{T: 46 * second, Kind: history.Ended, ID: id, Resource: "a", Fence: 30,
				Outcome: "lost", Until: 46 * second})
			s.release(0, s.grant(0, 31, 44*second, 45*second), 31, 47*second)
		},
		"calls that overlap get fences in any order": func(s *script) {
			a := s.grant(1, 31, 40*second, 44*second)
			s.release(1, a, 31, 45*second)
			s.release(0, s.grant(0, 30, 41*second, 42*second), 30, 43*second)
		},
		"a killed worker's write that was never stored": func(s *script) {
			s.Workers[1].Killed, s.Workers[1].To = true, 43*second
			id := s.grant(1, 30, 40*second, 41*second)
			s.event(1, history.Event{T: 42 * second, Kind: history.Write, ID: id, Resource: "a", Since: 42 * second,
				Until: 50 * second, Version: 3})
		},
		"a killed worker's write that was stored": func(s *script) {
			s.Workers[1].Killed, s.Workers[1].To = true, 43*second
			id := s.grant(1, 30, 40*second, 41*second)
			s.update(1, id, 30, 42*second)
			events := s.Workers[1].Events
			s.Workers[1].Events = events[:len(events)-1]
			next := s.grant(0, 31, 60*second, 61*second)
			s.update(0, next, 31, 62*second)
			s.release(0, next, 31, 63*second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := good()
			spoil(s)
			v := Judge(s.done())
			for _, a := range v.Anomalies {
				t.Error(a)
			}
			if !v.Register.Ok() {
				t.Errorf("porcupine says %s", v.Register.Result)
			}
		})
	}
}

// TestLongHistoriesAreCut counts far beyond the length of a piece, and loses one update at the end.
func TestLongHistoriesAreCut(t *testing.T) {
	s := newScript("w1")
	for i := range int64(3 * pieceLength) {
		id := s.grant(0, uint64(i+1), i*second, i*second+10)
		s.update(0, id, uint64(i+1), i*second+20)
		s.release(0, id, uint64(i+1), i*second+30)
	}
	s.Workers[0].To = 1e6 * second
	last := uint64(3*pieceLength + 1)
	if v := Judge(s.done()); !v.Register.Ok() || len(v.Anomalies) > 0 {
		t.Fatalf("porcupine says %s; %v", v.Register.Result, v.Anomalies)
	}
	s.versions["a"]--
	s.Workers[0].Events = s.Workers[0].Events[:len(s.Workers[0].Events)-1] // it was done
	id := s.grant(0, last, 1e5*second, 1e5*second+10)
	s.update(0, id, last, 1e5*second+20)
	s.release(0, id, last, 1e5*second+30)
	wantAnomaly(t, Judge(s.done()), Ledger, "porcupine")
}
