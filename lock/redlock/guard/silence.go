package guard

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// Unproven handles a server that did not vote because its marker is not the one that the connection
// expects. It begins the quarantine, or asks for its state. It returns why the node may not vote; nil
// if the node may vote now. The acquire had no effect and can then be sent again. A caller that expects
// no marker begins no quarantine, not even where the marker is gone by now. It ends the one that a change
// to its set began.
func (g *Guard) Unproven(ctx context.Context, s Server) error {
	if !g.enforces() {
		marker, err := s.Marker(ctx)
		if err != nil {
			return err
		}
		if m, _ := ParseMarker(marker); m.State != Quarantined || m.Fingerprint != g.Fingerprint {
			return g.OtherConfiguration(marker)
		}
	}
	g.mu.Lock()
	now, silence := g.Clock(), g.silence
	if silence != nil && now < silence.until && now-g.askedAt <= reexamineAfter {
		defer g.mu.Unlock()
		return g.silent(silence, now)
	}
	g.mu.Unlock()
	return g.ask(ctx, s)
}

// ask runs quarantine.lua. If the quarantine is not the known one, it runs the script twice: the count
// begins only with a caller that has read the quarantine's identity.
func (g *Guard) ask(ctx context.Context, s Server) error {
	if err := g.learnAgain(ctx, s); err != nil {
		return err
	}
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

// nonce returns the nonce of a quarantine that may begin. If the marker changes between this read and
// the script, only a hint in a message is wrong.
func (g *Guard) nonce(ctx context.Context, s Server, known string) string {
	if known == "" {
		if marker, err := s.Marker(ctx); err == nil && marker == "" {
			return newNonce + rand.Text()
		}
	}
	return rand.Text()
}

// answered records the server's answer about its quarantine.
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
		g.silence.err = errUnfinished
	default:
		g.silence.until, g.silence.fresh, g.known = now+a.Left, isFresh(m.Identity), m.Identity
	}
	if begun {
		witnessed := g.voted || g.replaced
		g.restart.Store(&driver.Restart{Witnessed: witnessed, Left: a.Left, Enforced: true, Evicted: g.evicted})
		g.voted, g.replaced, g.evicted = false, false, false
	}
	return g.silent(g.silence, now)
}

// OtherConfiguration returns the error of a call that a server with this marker refused.
func (g *Guard) OtherConfiguration(marker string) error {
	m, _ := ParseMarker(marker)
	if m.State == Changing && m.Fingerprint == g.Fingerprint {
		return errUnfinished
	}
	return otherConfiguration(m, g.Fingerprint)
}

// silent returns the error of a silence. It expects mu to be held.
func (g *Guard) silent(s *silence, now time.Duration) error {
	if s.err != nil {
		return s.err
	}
	_, evicted, _ := strings.Cut(s.memory, "+")
	return &driver.QuarantineError{
		Left: max(0, s.until-now), New: s.fresh && evicted == "" && !g.Servers.voted(), Vouch: g.Vouch,
		Evicted: evicted,
	}
}
