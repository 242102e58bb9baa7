package guard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// Change is the act of changing the members of a set, or its longest TTL: see
// redlock.Reconfigure.
type Change struct {
	From, To Members // a node of both is one Member
	Old, New Fingerprint
	Length   time.Duration // of the quarantine under the new one: the longer of both
	Wrap     func(string, error) error
	nonce    string
}

// ErrNotReached says that too few nodes of a set could be reached to change it.
var ErrNotReached = errors.New("too few nodes can be reached")

// Run marks the nodes in two rounds: the first takes their votes from the old
// configuration, the second lets the quarantine under the new one be counted, when no
// old quorum can grant or extend any more. It returns the nodes of To that were away:
// they vote for neither until Run is called again with the new configuration as both.
func (c *Change) Run(ctx context.Context) (away []string, err error) {
	c.nonce = "change-" + rand.Text()
	all := c.all()
	_ = all.each(ctx, c.Wrap, func(ctx context.Context, m *Member) error {
		m.away = m.look(ctx)
		return nil
	})
	if err := all.distinct(c.Wrap); err != nil {
		return nil, err
	}
	if err := c.enough("asked"); err != nil {
		return nil, err
	}
	if c.Old == c.New {
		all = c.stragglers()
	}
	_ = all.each(ctx, c.Wrap, func(ctx context.Context, m *Member) error {
		if m.away == nil {
			m.away = c.mark(ctx, m)
		}
		return nil
	})
	if err := c.enough("marked"); err != nil {
		return nil, fmt.Errorf("in mid-act: run it again: %w", err)
	}
	var begun Members
	for _, m := range c.To {
		switch read, ours := m.says(); {
		case m.away != nil:
			away = append(away, m.Name)
		case ours && read.State == Changing && read.Fingerprint == c.New:
			begun = append(begun, m)
		}
	}
	return away, begun.each(ctx, c.Wrap, c.begin)
}

func (c *Change) all() Members {
	all := append(Members(nil), c.From...)
	for _, m := range c.To {
		if !c.From.has(m) {
			all = append(all, m)
		}
	}
	return all
}

func (all Members) has(m *Member) bool {
	for _, other := range all {
		if other == m {
			return true
		}
	}
	return false
}

// enough requires that no quorum of the old configuration is left, that there is one of
// the new, and that each node that joins is there: it may have a marker of a time when it
// was a member before.
func (c *Change) enough(what string) error {
	if c.Old == c.New {
		return c.settled()
	}
	old, oldErrs := c.reached(c.From, func(*Member) bool { return true })
	if need := len(c.From) - len(c.From)/2; old < need {
		return fmt.Errorf("%w: %d of the %d old nodes could be %s, and %d are needed so that the others are no quorum: %w",
			ErrNotReached, old, len(c.From), what, need, oldErrs)
	}
	if _, errs := c.reached(c.To, func(m *Member) bool { return !c.From.has(m) }); errs != nil {
		return fmt.Errorf("%w: every node that joins is needed: %w", ErrNotReached, errs)
	}
	to, errs := c.reached(c.To, func(*Member) bool { return true })
	if need := len(c.To)/2 + 1; to < need {
		return fmt.Errorf("%w: %d of the %d new nodes could be %s, and %d are a quorum: %w", ErrNotReached, to, len(c.To), what, need, errs)
	}
	return nil
}

// reached counts the members in question that are there, and joins the errors of the others.
func (c *Change) reached(all Members, which func(*Member) bool) (n int, err error) {
	var errs []error
	for _, m := range all {
		switch {
		case !which(m):
		case m.away == nil:
			n++
		default:
			errs = append(errs, c.Wrap(m.Name, m.away))
		}
	}
	return n, errors.Join(errs...)
}

// settled requires that a quorum has gone over to the configuration that others are to
// join: who means to change it must name the old one.
func (c *Change) settled() error {
	settled := 0
	for _, m := range c.To {
		if c.isSettled(m) {
			settled++
		}
	}
	if settled < len(c.To)/2+1 {
		return fmt.Errorf("%w: only %d of %d nodes have gone over to this configuration: name the one before", ErrNotReached, settled, len(c.To))
	}
	return nil
}

// isSettled is also true of one that restarted since: whoever asks for its vote begins its quarantine.
func (c *Change) isSettled(m *Member) bool {
	read, ok := ParseMarker(m.marker)
	return m.away == nil && ok && read.Fingerprint == c.New && read.State != Changing
}

// stragglers are the nodes that were away when the others changed.
func (c *Change) stragglers() (late Members) {
	for _, m := range c.To {
		if !c.isSettled(m) {
			late = append(late, m)
		}
	}
	return late
}

// markTries is how often a node is marked whose marker those who ask for its vote keep changing: they begin a quarantine, count
// it and end it, and then leave it alone.
const markTries = 5

// mark is the first round.
func (c *Change) mark(ctx context.Context, m *Member) error {
	for range markTries {
		code, marker, err := m.Conn.Mark(ctx, Mark{
			State: Changing, Fingerprint: c.New, RunID: m.runID, DB: m.DB, Nonce: c.nonce, Length: c.Length, Read: m.marker,
		})
		if err != nil {
			return err
		}
		m.marker = marker
		if code == Marked {
			return nil
		}
		if read, _ := m.says(); read.State == Changing {
			return errors.New("another change of it began a moment ago")
		}
	}
	return errors.New("its marker was changed again and again")
}

// begin is the second round, to one node.
func (c *Change) begin(ctx context.Context, m *Member) error {
	replaced, err := m.Conn.Replace(ctx, m.prefix(), m.quarantine(c.Length))
	if err == nil && !replaced {
		err = errors.New("it restarted or lost its data a moment ago, or another change began: change it again")
	}
	return err
}
