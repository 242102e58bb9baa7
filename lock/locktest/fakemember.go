package locktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lockscope/lockscope/lock/internal/memstate"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// FakeMember is the connection of a vouch or a change to one server: a [guard.MemberConn] whose messages
// suffer the faults of a [FakeNode].
type FakeMember struct {
	node *FakeNode
	conn connection
	// Timeout bounds each call.
	Timeout time.Duration
	// Loose is for controls: the second round accepts any quarantine as that of the first round.
	Loose bool
}

// Member opens the connection of a vouch or a change to the server.
func (s *FakeServer) Member(seed uint64, f Faults, timeout time.Duration) *FakeMember {
	run, _ := s.dial()
	return &FakeMember{node: s.Connect(seed, f), conn: connection{run: run, sight: uncheckedSight()}, Timeout: timeout}
}

// Close ends the connection. Messages under way may still arrive.
func (m *FakeMember) Close() error { return m.node.Close() }

// call runs do on the server, perhaps twice and perhaps after it has returned.
func (m *FakeMember) call(ctx context.Context, op string, do func(*commands)) error {
	if _, up := m.node.server.dial(); !up {
		return &net.OpError{Op: "dial", Net: "fake", Err: syscall.ECONNREFUSED}
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	return m.node.exchange(ctx, m.conn, op, do, do)
}

// Info implements guard.MemberConn.
func (m *FakeMember) Info(ctx context.Context) (string, error) {
	info := make(chan string, 2) // a message may take effect twice
	if err := m.call(ctx, "info", func(s *commands) { info <- s.info() }); err != nil {
		return "", err
	}
	return <-info, nil
}

// Marker implements guard.MemberConn.
func (m *FakeMember) Marker(ctx context.Context) (string, error) {
	marker := make(chan string, 2)
	if err := m.call(ctx, "get", func(s *commands) { marker <- s.Marker }); err != nil {
		return "", err
	}
	return <-marker, nil
}

// Mark implements guard.MemberConn.
func (m *FakeMember) Mark(ctx context.Context, req guard.Mark) (int, string, error) {
	type reply struct {
		code   int
		marker string
		err    error
	}
	replies := make(chan reply, 2)
	err := m.call(ctx, "mark", func(s *commands) {
		if s.readOnly {
			replies <- reply{err: errReadOnly}
			return
		}
		var r reply
		r.code, r.marker = s.Mark(memstate.Marked{
			State: string(req.State), Fingerprint: string(req.Fingerprint), RunID: req.RunID, DB: strconv.Itoa(req.DB),
			Nonce: req.Nonce, LengthMS: req.Length.Milliseconds(), Read: req.Read, From: string(req.From),
		})
		m.node.server.tell("mark", "%+v: %+v", req, r)
		replies <- r
	})
	if err != nil {
		return 0, "", err
	}
	r := <-replies
	return r.code, r.marker, r.err
}

// Replace implements guard.MemberConn.
func (m *FakeMember) Replace(ctx context.Context, prefix, marker string) (bool, error) {
	if m.Loose {
		prefix = strings.Join(strings.SplitAfter(prefix, "|")[:4], "")
	}
	replies := make(chan error, 2)
	err := m.call(ctx, "replace", func(s *commands) {
		var err error = errReplaced
		switch {
		case s.readOnly:
			err = errReadOnly
		case s.Replace(prefix, marker):
			err = nil
		}
		m.node.server.tell("replace", "%q by %q: %v", prefix, marker, err)
		replies <- err
	})
	if err == nil {
		err = <-replies
	}
	if errors.Is(err, errReplaced) {
		return false, nil
	}
	return err == nil, err
}

var errReplaced = errors.New("locktest: another marker is there")

// Used implements guard.MemberConn.
func (m *FakeMember) Used(ctx context.Context) (string, error) {
	used := make(chan string, 2)
	err := m.call(ctx, "scan", func(s *commands) {
		if len(s.Counters) > 0 {
			used <- fmt.Sprintf("%d fence counters", len(s.Counters))
			return
		}
		used <- ""
	})
	if err != nil {
		return "", err
	}
	return <-used, nil
}

var _ guard.MemberConn = (*FakeMember)(nil)
