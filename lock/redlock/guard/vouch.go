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

// Vouch declares that all nodes of a set are new; see redlock.Vouch.
type Vouch struct {
	Members     Members
	Fingerprint Fingerprint
	Length      time.Duration             // of the quarantine that the first round begins
	Wrap        func(string, error) error // adds the node's name to its error
	Nonce       string                    // of this act; "" for a random one
	New         []string                  // names of nodes that are new although their servers show use
}

// Run marks all nodes in two rounds. The first begins a quarantine on each, which names this act, so
// that none of them votes. If all answer and none was used before, the second round ends these
// quarantines. A restart, a loss of data or another act in between has left another marker, which the
// second round does not touch.
//
// Once the second round has begun, the marks of the first stay: with them another Vouch tells a node
// that this one did not reach from a node that was emptied since.
func (v *Vouch) Run(ctx context.Context) error {
	err := v.Members.each(ctx, v.Wrap, func(ctx context.Context, m *Member) error { return m.inspect(ctx) })
	if err == nil {
		err = v.Members.distinct(v.Wrap)
	}
	if err != nil || v.voting() == len(v.Members) {
		return err
	}
	others := v.voting() > 0
	if err = v.Members.each(ctx, v.Wrap, func(_ context.Context, m *Member) error { return v.mayBeNew(m, others) }); err != nil {
		return err
	}
	if v.Nonce == "" {
		v.Nonce = rand.Text()
	}
	if err = errors.Join(v.Members.each(ctx, v.Wrap, v.mark), v.Members.each(ctx, v.Wrap, unused)); err == nil {
		err = v.Members.each(ctx, v.Wrap, v.confirm)
	}
	if err != nil && v.voting() == 0 {
		v.takeBack(ctx)
	}
	return err
}

// voting returns how many nodes' present processes vote already.
func (v *Vouch) voting() int {
	return count(v.Members, func(m *Member) bool { return m.votesFor(v.Fingerprint) })
}

// UseError is the error of a node whose server shows that it was used, although no key of a lock is left.
type UseError struct{ Shows string }

func (e *UseError) Error() string {
	return fmt.Sprintf("%v: %s: wait for its quarantine; if you know that it never granted a lock that can still be "+
		`valid, name it with "lockscope init --new" or redlock.VouchNew; if it restarted and forgot none, `+
		`use "lockscope init --restarted" or redlock.VouchRestarted`, ErrNotNew, e.Shows)
}

func (e *UseError) Unwrap() error { return ErrNotNew }

// mayBeNew asks what a server says of itself. A server that restarted without its data says nothing. But
// a vouch marks all nodes before the first of them votes, so a node without a mark beside one that votes
// has lost it, or joined later.
func (v *Vouch) mayBeNew(m *Member, others bool) error {
	if err := ofChange(m.marker, v.Fingerprint); err != nil {
		return err
	}
	if m.votesFor(v.Fingerprint) || slices.Contains(v.New, m.Name) {
		return nil
	}
	read, ours := m.says()
	switch expired := m.info.Number("expired_keys"); {
	case others && (m.marker == "" || ours && read.Fingerprint == v.Fingerprint &&
		!strings.HasPrefix(read.Identity, vouchNonce)):
		return &UseError{"other nodes are in use already, and this one restarted, was emptied, or joined them"}
	case m.info.Ran("flushall"), m.info.Ran("flushdb"):
		return &UseError{"FLUSHALL or FLUSHDB has emptied it since it started"}
	case expired > 0:
		return &UseError{fmt.Sprintf("keys have expired on it since it started (expired_keys is %d)", expired)}
	case m.marker == "" && m.info.Ran("evalsha"):
		return &UseError{"it has run scripts since it started, and what they wrote is gone"}
	}
	return nil
}

// ErrOfChange is the error of a node in the quarantine of a change. The leases that the old nodes granted can be valid,
// whatever this node remembers.
var ErrOfChange = fmt.Errorf("%w: a change of the configuration began its quarantine: leases of the old nodes can be "+
	"valid until it ends: wait", ErrNotNew)

// ofChange returns why no vouch counts where a change to the configuration left this marker; nil if none did.
func ofChange(marker string, f Fingerprint) error {
	switch m, ok := ParseMarker(marker); {
	case !ok || m.Fingerprint != f || !strings.HasPrefix(m.Identity, changeNonce):
		return nil
	case m.State == Changing:
		return fmt.Errorf("%w: a change of the configuration is not finished: finish or undo it first", ErrNotNew)
	}
	return ErrOfChange
}

// mark is the first round.
func (v *Vouch) mark(ctx context.Context, m *Member) error {
	code, marker, err := m.Conn.Mark(ctx, Mark{
		State: Quarantined, Fingerprint: v.Fingerprint, RunID: m.memory, DB: m.DB, Nonce: vouchNonce + v.Nonce,
		Length: v.Length,
	})
	if err != nil {
		return err
	}
	m.marker = marker
	if code != MarkRefused {
		return nil
	}
	changed := ofChange(m.marker, v.Fingerprint)
	switch read, ours := m.says(); {
	case ours && read.Fingerprint != v.Fingerprint:
		return fmt.Errorf("%w: %w", ErrNotNew, otherConfiguration(read, v.Fingerprint))
	case changed != nil:
		return changed
	case ours:
		return fmt.Errorf("%w: another vouch is under way, or was in the last minute: try again later", ErrNotNew)
	}
	return fmt.Errorf("%w: its marker is from before a restart, or from another server's data", ErrNotNew)
}

// unused requires that no lock was ever granted here, since fence counters do not expire.
func unused(ctx context.Context, m *Member) error {
	kind, err := m.Conn.Used(ctx)
	if err != nil || kind == "" {
		return err
	}
	return fmt.Errorf("%w: it has keys %s, so it was used for locks before: it votes by itself once its quarantine "+
		"is over", ErrNotNew, kind)
}

// confirm is the second round. It requires that nothing has happened to the server since the first.
func (v *Vouch) confirm(ctx context.Context, m *Member) error {
	if m.votesFor(v.Fingerprint) {
		return nil // an earlier vouch was cut short after this node
	}
	voting := votingMarker(v.Fingerprint, m.memory, m.DB)
	replaced, err := m.Conn.Replace(ctx, m.prefix(), voting)
	switch {
	case err == nil && replaced:
		m.marker = voting
	case err == nil:
		err = fmt.Errorf("%w: it restarted or lost its data just now, or another vouch began", ErrNotNew)
	}
	return err
}

// takeBack removes the marks of the first round. A mark that it cannot reach is an ordinary quarantine.
func (v *Vouch) takeBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTime)
	defer cancel()
	_ = v.Members.each(ctx, v.Wrap, func(ctx context.Context, m *Member) error {
		read, ours := m.says()
		if !ours || read.State != Quarantined || !strings.HasPrefix(read.Identity, vouchNonce+v.Nonce+".") {
			return nil
		}
		_, err := m.Conn.Replace(ctx, m.prefix(), "")
		return err
	})
}

// VouchRestarted declares that one node has forgotten no lock; see redlock.VouchRestarted.
type VouchRestarted struct {
	Member          *Member
	Fingerprint     Fingerprint
	RunID, Identity string // incarnation of the process, and of its quarantine
	Wrap            func(string, error) error
}

// Run ends this quarantine of this process, and no other.
func (v *VouchRestarted) Run(ctx context.Context) error {
	m := v.Member
	err := m.inspect(ctx)
	switch read, ok := ParseMarker(m.marker); {
	case err == nil && ok && read.Fingerprint != v.Fingerprint:
		err = fmt.Errorf("%w: %w", ErrNotNew, otherConfiguration(read, v.Fingerprint))
	case err == nil && m.memory != v.RunID:
		err = fmt.Errorf("%w: its run_id is %s now: it restarted again, or evicted keys", ErrNotNew, m.memory)
	case err == nil && strings.HasPrefix(v.Identity, changeNonce):
		err = ErrOfChange
	}
	if err == nil {
		voting := votingMarker(v.Fingerprint, m.memory, m.DB)
		m.marker = string(Quarantined) + strings.TrimPrefix(voting, string(Voting)) + "|" + v.Identity + "|"
		var ended bool
		ended, err = m.Conn.Replace(ctx, m.marker, voting)
		if err == nil && !ended {
			err = fmt.Errorf("%w: the quarantine %q is not, or no longer, the node's: "+
				`check the node with "lockscope doctor", and find out what happened since`, ErrNotNew, v.Identity)
		}
	}
	if err != nil {
		return v.Wrap(m.Name, err)
	}
	return nil
}
