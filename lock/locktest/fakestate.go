package locktest

import "github.com/lockscope/lockscope/lock/internal/memstate"

// stored is what a server stores.
type stored struct {
	*memstate.State
	life string // the marker that somebody vouched for the server
}

func newStored() stored { return stored{State: memstate.New()} }

func (s stored) clone() stored { return stored{State: s.State.Clone(), life: s.life} }

// commands are what a server does at one instant.
type commands struct {
	memstate.Instant
	life     string
	readOnly bool          // a replica: every script of package redlock writes, or might
	info     func() string // INFO
}
