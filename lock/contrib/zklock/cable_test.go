//go:build !race

package zklock_test

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"time"
)

var errCut = errors.New("the cable is cut")

// cable is how a client reaches its servers; it can be cut, and lose what was answered.
type cable struct {
	mu    sync.Mutex
	cut   bool
	lose  []byte // the connection breaks after a request that contains it was sent
	conns map[*plug]struct{}
}

type plug struct {
	net.Conn
	cable *cable
	dumb  bool // answers are lost from now on; guarded by the cable's mutex
}

func (c *cable) dial(network, addr string, timeout time.Duration) (net.Conn, error) {
	c.mu.Lock()
	cut := c.cut
	c.mu.Unlock()
	if cut {
		return nil, errCut
	}
	conn, err := net.DialTimeout(network, addr, timeout)
	if err != nil {
		return nil, err
	}
	p := &plug{Conn: conn, cable: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		c.conns = make(map[*plug]struct{})
	}
	c.conns[p] = struct{}{}
	return p, nil
}

// set cuts the cable, or mends it.
func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	for p := range c.conns {
		if cut {
			_ = p.Close()
			delete(c.conns, p)
		}
	}
}

// loseAnswerTo breaks the connection once, after the next such request.
func (c *cable) loseAnswerTo(request string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lose = []byte(request)
}

// lost reports that an answer was lost as was asked for.
func (c *cable) lost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lose == nil
}

func (p *plug) Write(b []byte) (int, error) {
	n, err := p.Conn.Write(b)
	p.cable.mu.Lock()
	defer p.cable.mu.Unlock()
	if p.cable.lose != nil && bytes.Contains(b, p.cable.lose) {
		p.cable.lose = nil
		p.dumb = true
	}
	return n, err
}

// Read loses what comes after the answer was to be lost, and breaks.
func (p *plug) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	p.cable.mu.Lock()
	defer p.cable.mu.Unlock()
	if p.dumb {
		return 0, errCut
	}
	return n, err
}
