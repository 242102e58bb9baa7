package locktest

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/internal/memstate"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// WithUptime sets the age of the server's process; by default it starts now.
func WithUptime(d time.Duration) ServerOption {
	return func(s *FakeServer) { s.started = s.nowUS() - d.Microseconds() }
}

// WithAppendOnly makes the server report an appendonly file.
func WithAppendOnly() ServerOption { return func(s *FakeServer) { s.aof = true } }

// dial returns the server's run, and whether it takes connections.
func (s *FakeServer) dial() (run int, up bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run, !s.down
}

// info is the reply to INFO, as far as package redlock reads it. It expects the mutex to
// be held.
func (s *FakeServer) info() string {
	role, aof := "master", 0
	if s.master != nil {
		role = "slave"
	}
	if s.aof {
		aof = 1
	}
	// Redis counts whole seconds of either instant.
	uptime := s.nowUS()/1e6 - s.started/1e6
	return fmt.Sprintf("# Server\r\nrun_id:%s\r\nuptime_in_seconds:%d\r\n# Replication\r\nrole:%s\r\n"+
		"# Persistence\r\naof_enabled:%d\r\n# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n",
		s.runID(), uptime, role, aof)
}

func (s *FakeServer) runID() string { return fmt.Sprintf("%s.%d", s.name, s.run) }

// Vouch vouches for the server's present process: it was never used, and votes for a configuration.
func (s *FakeServer) Vouch(f guard.Fingerprint) {
	s.SetMarker("voting|" + string(f) + "|" + s.RunID() + "|0")
}

// RunID returns the run_id of the server's process.
func (s *FakeServer) RunID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runID()
}

// SetMarker replaces the server's marker.
func (s *FakeServer) SetMarker(marker string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Marker = marker
	s.tell("marker", "%s", marker)
}

// Marker returns the server's marker; "" if there is none.
func (s *FakeServer) Marker() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Marker
}

// StepClock steps the server's clock, and with it the remaining time of every key.
func (s *FakeServer) StepClock(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stepped += d
	s.tell("clock", "stepped by %v", d)
}

// Flush deletes everything the server stores.
func (s *FakeServer) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = memstate.New()
	s.tell("flush", "")
}

// Snapshot saves the server's data for RestartStale.
func (s *FakeServer) Snapshot() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snapshot = s.state.Clone()
	s.tell("snapshot", "")
}

// Follow makes the server a replica of another, and erases its own data.
func (s *FakeServer) Follow(master *FakeServer) {
	copied := master.copied()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.master = copied, master
	s.tell("demote", "follows %s", master.name)
}

// Promote makes a replica a master again, with its master's data.
func (s *FakeServer) Promote() {
	s.mu.Lock()
	master := s.master
	s.mu.Unlock()
	if master == nil {
		return
	}
	copied := master.copied()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.master = copied, nil
	s.tell("promote", "")
}

func (s *FakeServer) copied() *memstate.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Clone()
}
