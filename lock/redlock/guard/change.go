package guard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Run marks the nodes in two rounds: the first takes their votes from the old
// configuration, the second lets the quarantine under the new one be counted, when no
// old quorum can grant or extend any more. It returns the nodes of To that were away:
// they vote for neither until Run is called again. A first round that fails is taken
// back.
func (c *Change) Run(ctx context.Context) (away []string, err error) {
	c.nonce = changeNonce + rand.Text()
	nodes := c.nodes()
	_ = nodes.each(ctx, c.Wrap, func(ctx context.Context, m *Member) error {
		m.away = m.inspect(ctx)
		return nil
	})
	if err = nodes.distinct(c.Wrap); err == nil {
		err = c.standing(nodes)
	}
	if err != nil {
		return nil, err
	}
	if c.hasMoved() {
		return c.join(ctx, nodes)
	}
	if err = c.enough("asked"); err != nil {
		return nil, err
	}
	if err = c.mark(ctx, nodes); err == nil {
		c.confirm(ctx, nodes)
		err = c.enough("marked")
	}
	if err != nil {
		return nil, c.takeBack(ctx, nodes, err)
	}
	return c.begin(ctx, nodes)
}

// join brings those along that were away when the others changed: it costs the others
// nothing. That these are where they were read is checked once more when the marks are
// made: from then on no other act gets past a quorum of them unseen.
func (c *Change) join(ctx context.Context, nodes Members) (away []string, err error) {
	late := slices.DeleteFunc(slices.Clone(nodes), c.hasGone)
	if !slices.ContainsFunc(late, (*Member).isThere) {
		return c.notThere(), ErrAlreadyChanged
	}
	if err = c.mark(ctx, late); err != nil {
		return nil, c.takeBack(ctx, late, err)
	}
	if c.confirm(ctx, nodes); !c.hasMoved() {
		err = fmt.Errorf("%w: the nodes that others are to join have gone on since they were asked", ErrBusy)
		return nil, c.takeBack(ctx, late, err)
	}
	return c.begin(ctx, late)
}

// confirm checks whether the marks are still there, now that all were made: an act that
// undoes this one may have replaced the first before the last was made. Of the others it
// reads what they stand for by now.
func (c *Change) confirm(ctx context.Context, nodes Members) {
	_ = nodes.each(ctx, c.Wrap, func(ctx context.Context, m *Member) error {
		if m.away != nil {
			return nil
		}
		marker, err := m.Conn.Marker(ctx)
		switch mine := c.isMine(m); {
		case err == nil && mine && marker != m.marker:
			err = fmt.Errorf("%w: it has replaced the mark of this one", ErrBusy)
		case err == nil:
			m.marker = marker
		}
		m.away = err
		return nil
	})
}

// begin is the second round, to each node that this act has marked.
func (c *Change) begin(ctx context.Context, nodes Members) (away []string, err error) {
	marked := slices.DeleteFunc(slices.Clone(nodes), func(m *Member) bool { return m.away != nil || !c.isMine(m) })
	err = marked.each(ctx, c.Wrap, func(ctx context.Context, m *Member) error {
		next := m.left()
		if slices.Contains(c.To, m) {
			next = m.quarantine(c.Length)
		}
		replaced, err := m.Conn.Replace(ctx, m.prefix(), next)
		if err == nil && !replaced {
			err = errors.New("it restarted or lost its data a moment ago, or another change began")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("in mid-act: run it again to finish it, or with the old and the new one exchanged to "+
			"undo it: %w", err)
	}
	return c.notThere(), nil
}

func (c *Change) notThere() (away []string) {
	for _, m := range c.To {
		if m.away != nil {
			away = append(away, m.Name)
		}
	}
	return away
}

// nodes are those of both sets, first the old ones, in an order that each change of the
// same set has: of two at once, one is first.
func (c *Change) nodes() Members {
	byName := func(a, b *Member) int { return strings.Compare(a.Name, b.Name) }
	all := slices.Clone(c.From)
	slices.SortFunc(all, byName)
	joining := slices.DeleteFunc(slices.Clone(c.To), c.isOld)
	slices.SortFunc(joining, byName)
	return append(all, joining...)
}

// markTries is how often a node is marked whose marker those who ask for its vote keep changing: they begin a
// quarantine, count it and end it, and then leave it alone.
const markTries = 5

// mark is the first round, node by node. It stops at the first that stands for another
// configuration by now; one that does not answer is away.
func (c *Change) mark(ctx context.Context, nodes Members) error {
	for _, m := range nodes {
		if m.away != nil {
			continue
		}
		if m.away = c.markOne(ctx, m); errors.Is(m.away, ErrStale) || errors.Is(m.away, ErrBusy) {
			return c.Wrap(m.Name, m.away)
		}
	}
	return nil
}

func (c *Change) markOne(ctx context.Context, m *Member) error {
	for range markTries {
		read := m.marker
		code, marker, err := m.Conn.Mark(ctx, Mark{
			State: Changing, Fingerprint: c.New, RunID: m.memory, DB: m.DB, Nonce: c.nonce, Length: c.Length,
			Read: read, From: c.Old,
		})
		if err != nil {
			return err
		}
		m.marker = marker
		if code == Marked || c.isMine(m) {
			m.before = read
			return nil
		}
		if marker == read {
			return fmt.Errorf("%w, or was until a moment ago: run this again in %v", ErrBusy, changeLasts)
		}
		if err := c.replaces(m); err != nil {
			return err
		}
		if err := overtaken(read, marker); err != nil {
			return err
		}
	}
	return errors.New("its marker was changed again and again")
}

// overtaken says that another change has been at work since a marker was read: it counts
// on what it has marked. Askers who begin, count or end a quarantine change none of that.
func overtaken(read, now string) error {
	was, ok := ParseMarker(read)
	switch is, there := ParseMarker(now); {
	case ok && !there:
		return fmt.Errorf("%w: it has just lost its data", ErrStale)
	case is.State == Changing:
		return fmt.Errorf("%w: it has just marked this node for %v", ErrBusy, is.Fingerprint)
	case ok && is.Fingerprint != was.Fingerprint:
		return fmt.Errorf("%w: another change has just brought it over to %v", ErrStale, is.Fingerprint)
	}
	return nil
}

// changeLasts is how long a change keeps another from going on where it was: see mark.lua.
const changeLasts = 10 * time.Second

// isMine reports that this act has marked the node.
func (c *Change) isMine(m *Member) bool {
	read, ok := m.says()
	return ok && read.State == Changing && strings.HasPrefix(read.Identity, c.nonce+".")
}

// takeBack undoes the first round where nothing has happened since, and adds to its
// error which nodes could not be reached for it.
func (c *Change) takeBack(ctx context.Context, nodes Members, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTime)
	defer cancel()
	mine := slices.DeleteFunc(slices.Clone(nodes), func(m *Member) bool { return !c.isMine(m) })
	left := mine.each(ctx, c.Wrap, func(ctx context.Context, m *Member) error {
		_, err := m.Conn.Replace(ctx, m.prefix(), m.before)
		return err
	})
	if left != nil {
		return fmt.Errorf("%w; some nodes keep silent until it is run again, or undone with the old and the new one "+
			"exchanged: %w", why, left)
	}
	return why
}
