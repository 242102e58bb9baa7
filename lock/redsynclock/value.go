package redsynclock

import (
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
)

// value is the value of a key: the token and the holder's record.
type value struct {
	text   string
	until  time.Time // when nothing can be left of it
	buried bool      // given up: it must not come to hold anything
}

func valueOf(v *value) redsync.Option { return redsync.WithValue(v.text) }

// values remembers the value of each token, since redsync compares whole values. Values that are not released
// are dropped when they have expired.
type values struct {
	mu      sync.Mutex
	byToken map[string]*value
	pruneAt int // length at which to look for such
}

// minPrune is the number of values below which pruning is not worthwhile.
const minPrune = 64

// add returns the value of a token, or stores text as its value, and keeps it for a while.
func (s *values) add(token, text string, memory time.Duration) *value {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.byToken[token]
	if v == nil {
		if s.byToken == nil {
			s.byToken, s.pruneAt = make(map[string]*value), minPrune
		}
		s.prune(now)
		v = &value{text: text}
		s.byToken[token] = v
	}
	v.until = now.Add(2 * memory)
	return v
}

func (s *values) prune(now time.Time) {
	if len(s.byToken) < s.pruneAt {
		return
	}
	for token, v := range s.byToken {
		if v.until.Before(now) {
			delete(s.byToken, token)
		}
	}
	s.pruneAt = max(minPrune, 2*len(s.byToken))
}

func (s *values) find(token string) *value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byToken[token]
}

func (s *values) remove(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byToken, token)
}

func (s *values) bury(v *value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.buried = true
}

func (s *values) isBuried(v *value) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return v.buried
}
