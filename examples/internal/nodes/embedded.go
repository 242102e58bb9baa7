package nodes

import (
	"errors"
	"fmt"
	"sync"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// embedded is a node inside this process.
type embedded struct {
	redis *miniredis.Miniredis
	// Kept here, for a node that is paused inside a script does not even say its address.
	server *server.Server
	addr   string

	mu     sync.Mutex
	paused chan struct{} // closed by Resume; nil while running
}

func startEmbedded(n int) (*Set, error) {
	set := new(Set)
	for range n {
		m := miniredis.NewMiniRedis()
		if err := m.Start(); err != nil {
			return nil, errors.Join(fmt.Errorf("embedded node: %w", err), set.Stop())
		}
		m.ClockTTL(true) // without it no key would ever expire
		set.nodes = append(set.nodes, &embedded{redis: m, server: m.Server(), addr: m.Addr()})
	}
	return set, nil
}

func (e *embedded) Addr() string { return e.addr }

// Pause holds every command back before it is carried out, as a stopped process
// does; an error reply would be a much milder fault.
func (e *embedded) Pause() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paused != nil {
		return nil
	}
	paused := make(chan struct{})
	e.paused = paused
	e.server.SetPreHook(func(*server.Peer, string, ...string) bool {
		<-paused
		return false
	})
	return nil
}

func (e *embedded) Resume() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paused == nil {
		return nil
	}
	e.server.SetPreHook(nil)
	close(e.paused)
	e.paused = nil
	return nil
}

// Stop resumes first: closing waits for the commands that are held back. The server is
// closed before the rest, which a command under way would read meanwhile.
func (e *embedded) Stop() error {
	err := e.Resume()
	e.server.Close()
	e.redis.Close()
	return err
}
