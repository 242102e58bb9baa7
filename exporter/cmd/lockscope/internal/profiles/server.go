package profiles

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"sync"
)

// Server is a redis-server as a profile shows it. Its methods may be called concurrently.
type Server struct {
	profile  Profile
	target   string
	listener net.Listener
	serving  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]bool
}

// Listen listens on a free port of the loopback interface, in front of the redis-server at target ("host:port"). The
// target is dialled for each connection; when that fails, the connection is closed.
func Listen(target string, p Profile) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	s := &Server{profile: p, target: target, listener: l, conns: make(map[net.Conn]bool)}
	s.serving.Go(s.accept)
	return s, nil
}

// Addr is the address that clients dial.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Port is the port of Addr.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Close cuts all connections and stops listening. It returns when all goroutines have ended. Closing again is fine.
func (s *Server) Close() error {
	err := s.listener.Close()
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.serving.Go(func() { s.serve(c) })
	}
}

func (s *Server) serve(client net.Conn) {
	if !s.keep(client) {
		return
	}
	defer s.drop(client)
	server, err := net.Dial("tcp", s.target)
	if err != nil || !s.keep(server) {
		return
	}
	defer s.drop(server)
	s.serving.Go(func() {
		_ = s.profile.requests(bufio.NewWriter(server), bufio.NewReader(client))
		s.drop(server)
	})
	_ = s.profile.replies(bufio.NewWriter(client), bufio.NewReader(server))
}

func (s *Server) keep(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close()
		return false
	}
	s.conns[c] = true
	return true
}

func (s *Server) drop(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	_ = c.Close()
}
