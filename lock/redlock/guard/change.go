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

// Run marks the nodes in two rounds. The first ends their votes for the old configuration. The second
// starts the quarantine under the new one, when no old quorum can grant or extend any more. Run
// returns the nodes of To that did not answer, which vote for neither until Run is called again. If
// the first round fails, its marks are taken back.
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
	c.Length = max(c.Length, longest(nodes))
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

// join adds the nodes that were away when the others changed. It costs the others nothing. After the
// marks are made, it checks again that the others still have the new configuration: from then on
// no other act gets past a quorum of them unseen.
func (c *Change) join(ctx context.Context, nodes Members) (away []string, err error) {
	late := slices.DeleteFunc(slices.Clone(nodes), c.hasGone)
	if !slices.ContainsFunc(late, (*Member).isThere) {
		return c.notThere(), ErrAlreadyChanged
	}
	if err = c.mark(ctx, late); err != nil {
		return nil, c.takeBack(ctx, late, err)
	}
	if c.confirm(ctx, nodes); !c.hasMoved() {
		err = fmt.Errorf("%w: the configuration of the other nodes changed meanwhile", ErrBusy)
		return nil, c.takeBack(ctx, late, err)
	}
	return c.begin(ctx, late)
}

// confirm checks that all marks are still there once the last is made: an act that undoes this one may
// have replaced the first mark by then. It reads the other nodes' present markers.
func (c *Change) confirm(ctx context.Context, nodes Members) {
	_ = nodes.each(ctx, c.Wrap, func(ctx context.Context, m *Member) error {
		if m.away != nil {
			return nil
		}
		marker, err := m.Conn.Marker(ctx)
		switch mine := c.isMine(m); {
		case err == nil && mine && marker != m.marker:
			err = fmt.Errorf("%w: it replaced the mark of this change", ErrBusy)
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
			err = errors.New("node restarted or lost its data just now, or another change began")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("not finished: run it again to finish it, or with the old and the new configuration "+
			"exchanged to undo it: %w", errors.Join(err, c.lost(nodes)))
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

// nodes returns the nodes of both sets, the old ones first, sorted by name: of two changes at once,
// one gets to the first node before the other.
func (c *Change) nodes() Members {
	byName := func(a, b *Member) int { return strings.Compare(a.Name, b.Name) }
	all := slices.Clone(c.From)
	slices.SortFunc(all, byName)
	joining := slices.DeleteFunc(slices.Clone(c.To), c.isOld)
	slices.SortFunc(joining, byName)
	return append(all, joining...)
}

// markTries is how often a node is marked while callers that want its vote change its marker. They begin, count
// and end a quarantine, and then leave it alone.
const markTries = 5

// mark is the first round, node by node. It stops at the first node that has another configuration by
// now. A node that does not answer is away.
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
		if err := ctx.Err(); err != nil {
			return err
		}
		read := m.marker
		code, marker, err := m.Conn.Mark(ctx, Mark{
			State: Changing, Fingerprint: c.New, RunID: m.memory, DB: m.DB, Nonce: c.nonce, Length: c.Length,
			Read: read, From: c.Old,
		})
		if err != nil {
			if !isRefusal(err) && !isNotNow(err) {
				m.lost = true
			}
			return err
		}
		m.marker = marker
		if code == Marked || c.isMine(m) {
			m.before = read
			return nil
		}
		if marker == read {
			return fmt.Errorf("%w, or was until just now: run this again in %v", ErrBusy, changeLasts)
		}
		if err := c.replaces(m); err != nil {
			return err
		}
		if err := overtaken(read, marker); err != nil {
			return err
		}
	}
	return errors.New("node's marker keeps changing: run this again")
}

// overtaken returns an error if another change has marked the node since its marker was read. Callers
// that begin, count or end a quarantine do not matter.
func overtaken(read, now string) error {
	was, ok := ParseMarker(read)
	switch is, there := ParseMarker(now); {
	case ok && !there:
		return fmt.Errorf("%w: node just lost its data: run this again", ErrStale)
	case is.State == Changing:
		return fmt.Errorf("%w: it just marked this node for %v", ErrBusy, is.Fingerprint)
	case ok && is.Fingerprint != was.Fingerprint:
		return fmt.Errorf("%w: another change just moved it to %v", ErrStale, is.Fingerprint)
	}
	return nil
}

// changeLasts is how long a change that stopped keeps another from continuing it: see mark.lua.
const changeLasts = 10 * time.Second

// isMine reports whether this change has marked the node.
func (c *Change) isMine(m *Member) bool {
	read, ok := m.says()
	return ok && read.State == Changing && strings.HasPrefix(read.Identity, c.nonce+".")
}

// lost names the nodes whose mark may have been made, or be made by a late message.
func (c *Change) lost(nodes Members) (err error) {
	for _, m := range nodes {
		if m.lost {
			err = errors.Join(err, c.Wrap(m.Name, errors.New("it may be marked: its answer was lost")))
		}
	}
	return err
}

// takeBack undoes the first round on nodes whose mark is unchanged, and adds the nodes that it could
// not reach to the error, with those that may be marked.
func (c *Change) takeBack(ctx context.Context, nodes Members, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTime)
	defer cancel()
	mine := slices.DeleteFunc(slices.Clone(nodes), func(m *Member) bool { return !c.isMine(m) })
	left := mine.each(ctx, c.Wrap, func(ctx context.Context, m *Member) error {
		_, err := m.Conn.Replace(ctx, m.prefix(), m.before)
		return err
	})
	if left = errors.Join(left, c.lost(nodes)); left != nil {
		return fmt.Errorf("%w; some nodes may not vote: run it again to finish it, or with the old and the new "+
			"configuration exchanged to undo it: %w", why, left)
	}
	return why
}
