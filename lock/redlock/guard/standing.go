package guard

import (
	"errors"
	"fmt"
	"slices"
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

// Errors of a change.
var (
	// ErrNotReached says that too few nodes of a set could be reached to change it.
	ErrNotReached = errors.New("too few nodes can be reached")
	// ErrStale says that a node stands for another configuration than the one that is to be replaced.
	ErrStale = errors.New("node stands for another configuration than the one to be replaced")
	// ErrBusy says that another change is under way.
	ErrBusy = errors.New("another change is under way")
	// ErrAlreadyChanged says that there was nothing to do.
	ErrAlreadyChanged = errors.New("the nodes have gone over to this configuration already")
)

// Which configuration stands on the nodes decides what a change may do. A quorum of the
// set that is left has the mark of every change away from it: who reaches a quorum of the
// old set and one of the new meets a node that knows better, if there is a later one.

func (c *Change) isOld(m *Member) bool { return slices.Contains(c.From, m) }

// standing requires that no node stands for a third configuration.
func (c *Change) standing(nodes Members) error {
	for _, m := range nodes {
		if err := c.replaces(m); m.away == nil && err != nil {
			return c.Wrap(m.Name, err)
		}
	}
	return nil
}

// replaces says why a change must not replace the node's marker; nil if it may. What
// another act has only marked stands for nothing: it may be taken back. Where the old
// configuration is the new one, a quorum that stands for it decides instead.
func (c *Change) replaces(m *Member) error {
	read, ok := ParseMarker(m.marker)
	is := read.Fingerprint
	switch marked := read.State == Changing && !read.hasLeft(); {
	case !ok:
		return nil
	case marked && c.Old == c.New && is == c.New,
		marked && is == c.New && read.From == c.Old, marked && is == c.Old && read.From == c.New:
		return nil // this very change is to be finished, or undone
	case marked:
		return fmt.Errorf("%w: a change from %v to %v was begun there, this one is from %v to %v: finish that one "+
			"first, or undo it with its old and new configuration exchanged", ErrStale, read.From, is, c.Old, c.New)
	case c.Old == c.New || is == c.Old || is == c.New:
		return nil
	}
	return fmt.Errorf("%w: it stands for %v, this change is from %v to %v: name the one that stands there as the "+
		"old one",
		ErrStale, is, c.Old, c.New)
}

// hasMoved reports that a quorum of the new set has gone over, and that no old one is left.
func (c *Change) hasMoved() bool {
	gone := func(m *Member) bool {
		read, ok := ParseMarker(m.marker)
		return m.isThere() && ok && read.Fingerprint == c.New
	}
	return isQuorum(c.To, c.isSettled) && (c.Old == c.New || isQuorum(c.From, gone))
}

// hasGone reports that the node needs nothing more of this change.
func (c *Change) hasGone(m *Member) bool {
	read, ok := ParseMarker(m.marker)
	if !slices.Contains(c.To, m) {
		return m.isThere() && ok && read.Fingerprint == c.New && read.hasLeft()
	}
	return c.isSettled(m)
}

// isSettled is also true of one that restarted since: whoever asks for its vote begins its quarantine.
func (c *Change) isSettled(m *Member) bool {
	read, ok := ParseMarker(m.marker)
	return m.isThere() && ok && read.Fingerprint == c.New && read.State != Changing
}

func (m *Member) isThere() bool { return m.away == nil }

func isQuorum(all Members, which func(*Member) bool) bool { return count(all, which) >= len(all)/2+1 }

func count(all Members, which func(*Member) bool) (n int) {
	for _, m := range all {
		if which(m) {
			n++
		}
	}
	return n
}

// enough requires quorums of both sets, and each node that joins: it may have a marker of
// a time when it was a member before. What the old nodes say has to be known of a quorum,
// too: one that was wiped has forgotten which changes there were.
func (c *Change) enough(what string) error {
	if c.Old == c.New {
		return fmt.Errorf("%w: only %d of %d nodes have gone over to this configuration: name the one before",
			ErrNotReached, count(c.To, c.isSettled), len(c.To))
	}
	for _, set := range []struct {
		name  string
		nodes Members
	}{{"old", c.From}, {"new", c.To}} {
		if n := count(set.nodes, (*Member).isThere); n < len(set.nodes)/2+1 {
			return fmt.Errorf("%w: %d of the %d %s nodes could be %s, and %d are needed: %w",
				ErrNotReached, n, len(set.nodes), set.name, what, len(set.nodes)/2+1, c.whyAway(set.nodes))
		}
	}
	joining := slices.DeleteFunc(slices.Clone(c.To), c.isOld)
	if errs := c.whyAway(joining); errs != nil {
		return fmt.Errorf("%w: every node that joins is needed: %w", ErrNotReached, errs)
	}
	return c.remembered()
}

func (c *Change) whyAway(nodes Members) error {
	var errs []error
	for _, m := range nodes {
		if !m.isThere() {
			errs = append(errs, c.Wrap(m.Name, m.away))
		}
	}
	return errors.Join(errs...)
}

// remembered requires that a quorum of the old nodes says what it stands for, or that all
// are there and none ever stood for anything.
func (c *Change) remembered() error {
	n := count(c.From, func(m *Member) bool {
		_, ok := ParseMarker(m.marker)
		return m.isThere() && ok
	})
	if n >= len(c.From)/2+1 || n == 0 && count(c.From, (*Member).isThere) == len(c.From) {
		return nil
	}
	return fmt.Errorf("%w: only %d of the %d old nodes say for which configuration they stand, and %d are needed: "+
		"bring the others back, or let a service of the old configuration ask them first", ErrNotReached, n,
		len(c.From), len(c.From)/2+1)
}
