package profile

import (
	"runtime"
	"slices"
)

const (
	maxStacks = 512
	maxFrames = 64
)

// Stack is where a call waits. One stack has one Stack of a Recorder, except for those that did not fit: they share
// otherStack.
type Stack struct{ pcs []uintptr }

// stacks has each stack once.
type stacks struct {
	byHash map[uint64][]*Stack
	n      int
	other  Stack // stands for stacks that did not fit
}

// Stack returns the stack of the calling goroutine; nil if the Recorder keeps none.
func (r *Recorder) Stack() *Stack {
	if !r.Stacks() {
		return nil
	}
	var pcs [maxFrames]uintptr
	n := runtime.Callers(2, pcs[:])
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stacks.of(pcs[:n])
}

func (s *stacks) of(pcs []uintptr) *Stack {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a, a word at a time
	hash := uint64(offset)
	for _, pc := range pcs {
		hash = (hash ^ uint64(pc)) * prime
	}
	for _, known := range s.byHash[hash] {
		if slices.Equal(known.pcs, pcs) {
			return known
		}
	}
	if s.n >= maxStacks {
		return &s.other
	}
	if s.byHash == nil {
		s.byHash = make(map[uint64][]*Stack)
	}
	added := &Stack{slices.Clone(pcs)}
	s.byHash[hash] = append(s.byHash[hash], added)
	s.n++
	return added
}
