package guard

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Change changes the members of a set, or its longest TTL; see redlock.Reconfigure.
type Change struct {
	From, To Members // a node of both is one Member
	Old, New Fingerprint
	Length   time.Duration // of the quarantine under the new one: the longer of both
	Wrap     func(string, error) error
	nonce    string
}

// Errors of a change.
var (
	// ErrNotReached means that too few nodes of a set could be reached to change it.
	ErrNotReached = errors.New("too few nodes can be reached")
	// ErrStale means that a node has another configuration than the one to replace.
	ErrStale = errors.New("node has another configuration than the one to be replaced")
	// ErrBusy means that another change is under way.
	ErrBusy = errors.New("another change is under way")
	// ErrAlreadyChanged means that there was nothing to do.
	ErrAlreadyChanged = errors.New("the nodes have this configuration already")
)

// The configurations on the nodes decide what a change may do. Every change marks a quorum of the set
// that it replaces. So a change that reaches a quorum of the old and of the new set meets a node
// that knows of any later change.

func (c *Change) isOld(m *Member) bool { return slices.Contains(c.From, m) }

// standing requires that no node has a third configuration.
func (c *Change) standing(nodes Members) error {
	for _, m := range nodes {
		if err := c.replaces(m); m.away == nil && err != nil {
			return c.Wrap(m.Name, err)
		}
	}
	return nil
}

// replaces returns why a change must not replace the node's marker; nil if it may. A mark of another
// act does not count as a configuration: it may be taken back. If the old configuration is also the
// new one, a quorum that has it decides instead.
func (c *Change) replaces(m *Member) error {
	read, ok := ParseMarker(m.marker)
	is := read.Fingerprint
	switch marked := read.State == Changing && !read.HasLeft(); {
	case !ok:
		return nil
	case marked && c.Old == c.New && is == c.New,
		marked && is == c.New && read.From == c.Old, marked && is == c.Old && read.From == c.New:
		return nil // this very change is to be finished, or undone
	case marked:
		return fmt.Errorf("%w: a change from %v to %v is not finished, and this one is from %v to %v: finish "+
			"that one first, or undo it by swapping its old and new configuration", ErrStale, read.From, is, c.Old, c.New)
	case c.Old == c.New || is == c.Old || is == c.New:
		return nil
	}
	return fmt.Errorf("%w: its configuration is %v, and this change is from %v to %v: pass its own as the old one (--from)",
		ErrStale, is, c.Old, c.New)
}

// longest returns the length of the longest quarantine that a node is in, or that a change is about to begin: leases from
// before an earlier change may be valid for so long.
func longest(nodes Members) (length time.Duration) {
	for _, m := range nodes {
		if read, ok := ParseMarker(m.marker); ok && !read.HasLeft() {
			length = max(length, read.Length)
		}
	}
	return length
}

// hasMoved reports whether a quorum of the new set has the new configuration, and no old quorum is left.
func (c *Change) hasMoved() bool {
	gone := func(m *Member) bool {
		read, ok := ParseMarker(m.marker)
		return m.isThere() && ok && read.Fingerprint == c.New
	}
	return isQuorum(c.To, c.isSettled) && (c.Old == c.New || isQuorum(c.From, gone))
}

// hasGone reports whether the node needs no more steps of this change.
func (c *Change) hasGone(m *Member) bool {
	read, ok := ParseMarker(m.marker)
	if !slices.Contains(c.To, m) {
		return m.isThere() && ok && read.Fingerprint == c.New && read.HasLeft()
	}
	return c.isSettled(m)
}

// isSettled is true for a node that restarted since: the next caller that wants its vote begins its quarantine.
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

// unlike names a node that answers and has another configuration than the only one that was given, or none.
func (c *Change) unlike() error {
	for _, m := range c.To {
		if !m.isThere() || c.isSettled(m) {
			continue
		}
		read, ok := ParseMarker(m.marker)
		if !ok {
			return c.Wrap(m.Name, fmt.Errorf("%w: it has no configuration: a new set of three nodes or more needs "+
				"\"lockscope init\"; a smaller one has nothing to change", ErrStale))
		}
		return c.Wrap(m.Name, fmt.Errorf("%w: its configuration is %v, not %v: pass its own as the old one (--from)",
			ErrStale, read.Fingerprint, c.New))
	}
	return nil
}

// enough requires a quorum of both sets, and every node that joins, since its marker may be from an
// earlier membership. It also requires the markers of an old quorum: a node that was wiped has
// forgotten earlier changes.
func (c *Change) enough(what string) error {
	if c.Old == c.New {
		if err := c.unlike(); err != nil {
			return err
		}
		return fmt.Errorf("%w: only %d of %d nodes could be %s: %w", ErrNotReached, count(c.To, (*Member).isThere), len(c.To),
			what, c.whyAway(c.To))
	}
	for _, set := range []struct {
		name  string
		nodes Members
	}{{"old", c.From}, {"new", c.To}} {
		if n := count(set.nodes, (*Member).isThere); n < len(set.nodes)/2+1 {
			return fmt.Errorf("%w: only %d of the %d %s nodes could be %s, and %d are needed: %w",
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

// remembered requires the markers of a quorum of the old nodes, unless all of them answer and none has
// one.
func (c *Change) remembered() error {
	n := count(c.From, func(m *Member) bool {
		_, ok := ParseMarker(m.marker)
		return m.isThere() && ok
	})
	if n >= len(c.From)/2+1 || n == 0 && count(c.From, (*Member).isThere) == len(c.From) {
		return nil
	}
	return fmt.Errorf("%w: only %d of the %d old nodes have a marker, and %d are needed: "+
		"bring the others back, or let a service with the old configuration use them first", ErrNotReached, n,
		len(c.From), len(c.From)/2+1)
}
