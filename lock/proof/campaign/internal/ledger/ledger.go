//go:build linux

// Package ledger is the resource that the locks protect, outside of Redis: registers that
// reject fencing tokens lower than they have seen, and remember every write. Workers reach
// it over a socket. It is never stopped and suffers no fault: what it says happened.
package ledger

import (
	"errors"
	"net"
	"net/rpc"
	"sync"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
)

// Entry is a write that was accepted.
type Entry struct {
	T        int64  `json:"t"` // when, on the clock of package history
	Resource string `json:"r"`
	Fence    uint64 `json:"f"`
	Version  int64  `json:"v"` // the one it made
	Worker   string `json:"w"`
	ID       int64  `json:"id"` // of the lease in its worker
}

// Ledger is the store. Its methods may be called concurrently.
type Ledger struct {
	mu        sync.Mutex
	registers map[string]*register
	entries   []Entry
	rejected  int
}

// register is one resource. Its version is what is read and written.
type register struct {
	highest uint64
	version int64
}

// New makes an empty ledger.
func New() *Ledger { return &Ledger{registers: make(map[string]*register)} }

// Read returns the version of a resource, unless the fence is lower than one seen before.
func (l *Ledger) Read(resource string, fence uint64) (version int64, accepted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.register(resource)
	if fence < r.highest {
		l.rejected++
		return 0, false
	}
	r.highest = fence
	return r.version, true
}

// Write stores an entry, unless its fence is lower than one seen before. The version is not
// compared with what is there: two writers that exclude each other need no such thing.
func (l *Ledger) Write(e Entry) (accepted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.register(e.Resource)
	if e.Fence < r.highest {
		l.rejected++
		return false
	}
	r.highest, r.version = e.Fence, e.Version
	e.T = history.Now()
	l.entries = append(l.entries, e)
	return true
}

// Highest is the largest fence seen of a resource.
func (l *Ledger) Highest(resource string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.register(resource).highest
}

// Entries returns the writes that were accepted, in order, and how many accesses were
// rejected.
func (l *Ledger) Entries() (entries []Entry, rejected int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Entry(nil), l.entries...), l.rejected
}

func (l *Ledger) register(resource string) *register {
	r := l.registers[resource]
	if r == nil {
		r = new(register)
		l.registers[resource] = r
	}
	return r
}

// Server lets other processes reach a ledger.
type Server struct {
	listener net.Listener
	done     sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// Serve listens on a free port of the loopback interface.
func Serve(l *Ledger) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	service := rpc.NewServer()
	if err := service.RegisterName("Ledger", &Calls{l}); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := &Server{listener: listener, conns: make(map[net.Conn]bool)}
	s.done.Go(func() { s.accept(service) })
	return s, nil
}

func (s *Server) accept(service *rpc.Server) {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.mu.Lock()
		s.conns[conn] = true
		s.mu.Unlock()
		s.done.Go(func() {
			service.ServeConn(conn)
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.conns, conn)
		})
	}
}

// Addr is what clients dial.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close hangs up on everybody, and returns when nothing of the server runs any more.
func (s *Server) Close() error {
	err := s.listener.Close()
	s.mu.Lock()
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.done.Wait()
	return err
}
