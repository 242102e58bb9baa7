package guard

import (
	"context"
	"crypto/rand"
	"strings"
	"sync/atomic"

	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// markedIdentity begins the identities of servers that report no run_id. The marker on the server has the identity, so
// that it is lost with the server's data, and kept with it: nothing shows that a process restarted with older data.
const markedIdentity = "mark-"

// IsOf reports whether the marker is that of a server with this incarnation: it names it, or it has an identity of its
// own, if the server reports no run_id and so has no incarnation.
func (m Marker) IsOf(incarnation string) bool {
	if incarnation == "" {
		return strings.HasPrefix(m.RunID, markedIdentity)
	}
	return m.RunID == incarnation
}

// identity is that of one node's server, if its marker has to show it.
type identity struct {
	name atomic.Pointer[string] // nil until a marker was read
}

// get returns the identity; "" if it is not known yet.
func (i *identity) get() string {
	if name := i.name.Load(); name != nil {
		return *name
	}
	return ""
}

// learn takes the identity from a marker. A server without a marker keeps the identity that it had, or gets a new one:
// the first process whose quarantine script the server runs gives its identity to the others.
func (i *identity) learn(marker string) (changed bool) {
	if m, ok := ParseMarker(marker); ok && strings.HasPrefix(m.RunID, markedIdentity) {
		name, _, _ := strings.Cut(m.RunID, "+")
		changed = i.get() != name
		i.name.Store(&name)
		return changed
	}
	fresh := markedIdentity + rand.Text()
	return i.name.CompareAndSwap(nil, &fresh)
}

// memoryOf is what a marker names: the server's incarnation or, if the caller accepts evictions, its identity.
func memoryOf(identity string, info redisinfo.Info, evictionOK bool) string {
	if evictionOK {
		return identity
	}
	return info.IncarnationOf(identity)
}

// isMarked reports whether the marker has to show the server's identity.
func (g *Guard) isMarked(info redisinfo.Info) bool {
	return g.ByMarker && !g.Cluster && info != nil && info.RunID() == "" && info.Role() != ""
}

// identityOf is what no other server has.
func (g *Guard) identityOf(info redisinfo.Info) string {
	if g.isMarked(info) {
		return g.marked.get()
	}
	return info.RunID()
}

// learn reads the marker of a server whose identity it has. An error is the connection's.
func (g *Guard) learn(ctx context.Context, s Server, info redisinfo.Info) error {
	if !g.isMarked(info) {
		return nil
	}
	marker, err := s.Marker(ctx)
	if err != nil {
		return err
	}
	if !g.marked.learn(marker) {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.voted {
		g.runID, g.memory = "", "" // the identity that nobody has used is no process that was there before
	}
	return nil
}

// learnAgain reads the marker before the server is asked for its quarantine: another process may have given it its
// identity since.
func (g *Guard) learnAgain(ctx context.Context, s Server) error {
	info := g.info.Load()
	if info == nil || !g.isMarked(*info) {
		return nil
	}
	before := g.marked.get()
	if err := g.learn(ctx, s, *info); err != nil || g.marked.get() == before {
		return err
	}
	_ = g.judge(*info, func() (string, error) { return "", nil })
	g.saw(*info)
	return nil
}
