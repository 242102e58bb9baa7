package constructs

import (
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
)

// sets is the model with its bounds read.
func sets(m Sets) *Sets {
	for c, names := range strings.Fields(m.Wanted) {
		for _, name := range names {
			m.parsed[c] = append(m.parsed[c], uint8(name-'0'))
		}
		if !m.Rules.Unsorted {
			slices.Sort(m.parsed[c])
		}
	}
	return &m
}

// Start implements [explore.Model].
func (m *Sets) Start() (s setsState) {
	for c, name := range strings.Fields(m.Held) {
		if name != "-" {
			s.owner[name[0]-'0'] = uint8(c) + 1
		}
	}
	return s
}

// Violation implements [explore.Model].
func (m *Sets) Violation(s setsState) string {
	for c := range s.callers {
		at := &s.callers[c]
		for _, l := range m.parsed[c] {
			if at.phase == attempt.Held && int(s.owner[l]) != c+1 {
				return "a set is valid without one of its locks"
			}
			if at.failed && int(s.owner[l]) == c+1 {
				return "a set that failed keeps a lock"
			}
		}
		if m.waitsForItself(&s, c) {
			return "callers wait for one another"
		}
	}
	return ""
}

// waitsForItself follows the callers for which a caller waits, each for one lock.
func (m *Sets) waitsForItself(s *setsState, c int) bool {
	at := c
	for range setsCallers {
		if s.callers[at].phase != attempt.Asking {
			return false
		}
		owner := s.owner[m.parsed[at][s.callers[at].next]]
		if owner == 0 {
			return false
		}
		if at = int(owner) - 1; at == c {
			return true
		}
	}
	return false
}

// Canonical implements [explore.Model]: the locks of callers differ, so none are alike.
func (m *Sets) Canonical(s setsState) setsState { return s }

// Steps implements [explore.Model].
func (m *Sets) Steps(s setsState, each func(explore.Step, setsState)) {
	for c, names := range m.parsed {
		if len(names) == 0 {
			continue
		}
		at := &s.callers[c]
		do := func(text string, lock int, to setsState) { each(explore.Step{Text: text, Client: c, Slot: lock}, to) }
		switch at.phase {
		case attempt.Idle:
			to := s
			to.callers[c].phase = attempt.Asking
			do("{c} begins to acquire its set", 0, to)
		case attempt.Asking:
			if l := int(names[at.next]); s.owner[l] == 0 {
				do("{c} acquires lock {s}", l, m.acquire(s, c, l))
			}
			do("{c} gives up", 0, m.fail(s, c))
		case attempt.Held:
			do("{c} releases its set", 0, m.end(s, c))
		}
		m.lose(s, c, do)
	}
}

func (m *Sets) acquire(s setsState, c, lock int) setsState {
	at := &s.callers[c]
	s.owner[lock] = uint8(c) + 1
	if at.next++; int(at.next) == len(m.parsed[c]) {
		at.phase = attempt.Held
	}
	return s
}

// lose takes a lock from a caller, whose set ends with it.
func (m *Sets) lose(s setsState, c int, do func(string, int, setsState)) {
	if int(s.lost) == m.Losses {
		return
	}
	for _, l := range m.parsed[c] {
		if int(s.owner[l]) != c+1 {
			continue
		}
		to := s
		to.lost++
		to.owner[l] = 0
		if !m.Rules.LossOfOne {
			to = m.fail(to, c)
		}
		do("{c} loses lock {s}", int(l), to)
	}
}

// fail ends a set, whether it is complete or not.
func (m *Sets) fail(s setsState, c int) setsState {
	if !m.Rules.KeptOnFailure {
		s = m.end(s, c)
	}
	s.callers[c] = setsCaller{phase: attempt.Over, failed: true}
	return s
}

// end releases all that a caller has.
func (m *Sets) end(s setsState, c int) setsState {
	s.callers[c] = setsCaller{phase: attempt.Over}
	for l := range s.owner {
		if int(s.owner[l]) == c+1 {
			s.owner[l] = 0
		}
	}
	return s
}
