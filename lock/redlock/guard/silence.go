package guard

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// ErrOtherConfiguration says that a node votes for another set of nodes, or another MaxTTL.
var ErrOtherConfiguration = driver.NewError(driver.Misconfigured, "node votes for another configuration")

// Answer is the reply of quarantine.lua.
type Answer struct {
	Code   int // one of those below
	Marker string
	Left   time.Duration // of a quarantine
}

// The codes of an answer.
const (
	AnswerOther       = -1 // it votes for another configuration
	AnswerQuarantined = 0
	AnswerVotes       = 1
	AnswerChanging    = 2 // a change of the configuration was begun and not finished
)

// newNonce begins the identity of a quarantine that began where there was no marker at
// all: that server never voted, or lost everything. It is for what a person is told, and
// no script looks at it.
const newNonce = "new-"

// silence is why a server did not vote.
type silence struct {
	until  time.Duration // on the clock: when to ask again at the latest
	memory string        // incarnation of the process that keeps it
	err    error         // nil for a quarantine
	fresh  bool          // the quarantine began without a marker
}

// silent is the error of a silence. It expects mu to be held.
func (g *Guard) silent(s *silence, now time.Duration) error {
	if s.err != nil {
		return s.err
	}
	_, evicted, _ := strings.Cut(s.memory, "+")
	return &driver.QuarantineError{
		Left: max(0, s.until-now), New: s.fresh && evicted == "" && !g.Servers.voted(), Vouch: g.Vouch, Evicted: evicted,
	}
}

// isFresh reports that a quarantine began where nothing was known of a vote: also one of a
// vouch, which marks no other server.
func isFresh(identity string) bool {
	return strings.HasPrefix(identity, newNonce) || strings.HasPrefix(identity, vouchNonce)
}

// Unproven is what follows when a server did not vote, for its marker is not the one the
// connection expects: its quarantine begins, or is asked for. It returns why the node may
// not vote, or nil if by now it may and the acquire, which had no effect, can be sent again.
func (g *Guard) Unproven(ctx context.Context, s Server) error {
	g.mu.Lock()
	now, silence := g.Clock(), g.silence
	if silence != nil && now < silence.until && now-g.askedAt <= reexamineAfter {
		defer g.mu.Unlock()
		return g.silent(silence, now)
	}
	g.mu.Unlock()
	return g.ask(ctx, s)
}

// ask runs quarantine.lua: twice where the quarantine is another than was known, for its
// count begins only with a caller who has read its identity.
func (g *Guard) ask(ctx context.Context, s Server) error {
	for again := false; ; again = true {
		g.mu.Lock()
		known := g.known
		g.mu.Unlock()
		answer, err := s.Ask(ctx, Ask{Length: g.Quarantine, Nonce: g.nonce(ctx, s, known), Known: known})
		if err != nil {
			return err
		}
		m, _ := ParseMarker(answer.Marker)
		if answer.Code == AnswerQuarantined && m.Identity != known && !again {
			g.mu.Lock()
			g.known = m.Identity
			g.mu.Unlock()
			continue
		}
		return g.answered(answer, m, again)
	}
}

// nonce is of a quarantine that may begin, where none is known. What happens to the marker
// between this look and the script makes at most a wrong advice.
func (g *Guard) nonce(ctx context.Context, s Server, known string) string {
	if known == "" {
		if marker, err := s.Marker(ctx); err == nil && marker == "" {
			return newNonce + rand.Text()
		}
	}
	return rand.Text()
}

// answered takes note of what the server says of its silence.
func (g *Guard) answered(a Answer, m Marker, begun bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.Clock()
	g.askedAt = now
	defer g.settle()
	if a.Code == AnswerVotes {
		g.silence, g.known = nil, ""
		return nil
	}
	g.silence = &silence{until: now + reexamineAfter, memory: g.memory}
	switch a.Code {
	case AnswerOther:
		g.silence.err = otherConfiguration(m, g.Fingerprint)
	case AnswerChanging:
		g.silence.err = fmt.Errorf("%w: a change to this configuration was begun and not finished: run the same "+
			"lockscope reconfigure or redlock.Reconfigure again to finish it, or with the old and the new one exchanged to undo it",
			driver.ErrQuarantined)
	default:
		g.silence.until, g.silence.fresh, g.known = now+a.Left, isFresh(m.Identity), m.Identity
	}
	if begun {
		g.restart.Store(&driver.Restart{Witnessed: g.voted || g.replaced, Left: a.Left, Enforced: true, Evicted: g.evicted})
		g.voted, g.replaced, g.evicted = false, false, false
	}
	return g.silent(g.silence, now)
}

// OtherConfiguration is the error of an extend that a server refused, by its marker.
func (g *Guard) OtherConfiguration(marker string) error {
	m, _ := ParseMarker(marker)
	return otherConfiguration(m, g.Fingerprint)
}

func otherConfiguration(theirs Marker, ours Fingerprint) error {
	if theirs.State == Changing {
		return fmt.Errorf("%w: it left this one, %v, in a change to %v: stop the processes with the old one; "+
			"if that change was not finished, lockscope reconfigure with both exchanged undoes it", ErrOtherConfiguration, ours, theirs.Fingerprint)
	}
	return fmt.Errorf("%w: its own is of %v; this process has %v: stop the processes with the old one, "+
		"or change it with lockscope reconfigure or redlock.Reconfigure", ErrOtherConfiguration, theirs.Fingerprint, ours)
}
