package guard

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// ErrNotNew means that a node cannot be vouched for: it may have forgotten locks, or may soon.
var ErrNotNew = errors.New("node is not new")

// MemberConn is the one connection of an act to a node. It always leads to the same server.
type MemberConn interface {
	// Info returns the reply to INFO, with its section commandstats if the server has one.
	Info(ctx context.Context) (string, error)
	// Marker returns the value of [MarkerKey], "" if there is none.
	Marker(ctx context.Context) (string, error)
	// Mark runs mark.lua.
	Mark(ctx context.Context, m Mark) (code int, marker string, err error)
	// Replace runs replace.lua.
	Replace(ctx context.Context, prefix, marker string) (bool, error)
	// Used returns the kind of a key that shows that locks were granted here; "" if none does.
	Used(ctx context.Context) (string, error)
}

// Mark is the first round of an act on one node.
type Mark struct {
	State       State // Quarantined by a vouch, Changing by a change
	Fingerprint Fingerprint
	RunID       string // incarnation of the process that this connection saw
	DB          int
	Nonce       string // of the act
	Length      time.Duration
	Read        string      // of a change: the marker to replace, "" if there is none
	From        Fingerprint // of a change: the configuration to replace
}

// Args returns the arguments of mark.lua.
func (m Mark) Args() []any {
	return []any{string(m.State), string(m.Fingerprint), m.RunID, m.DB, m.Nonce, millis(m.Length), m.Read,
		string(m.From)}
}

// The codes of a reply of mark.lua.
const (
	MarkRefused = -1 // the present marker does not allow it
	Marked      = 0
	MarkVotes   = 1 // the server votes already
)

// takeBackTime bounds the undo of an act that failed.
const takeBackTime = 500 * time.Millisecond

// Member is a node that takes part in an act.
type Member struct {
	Name string
	DB   int
	Conn MemberConn
	// EvictionOK and ByMarker are Config's.
	EvictionOK, ByMarker bool

	identity identity // of a server without a run_id

	info   redisinfo.Info
	runID  string // of its process
	memory string // incarnation of the process, which its marker names
	marker string // as it was read, and as the first round left it
	before string // what the first round of a change replaced
	away   error  // why it could not be asked
	lost   bool   // whether its answer to the first round of a change was
}

// inspect reads the server's identity and its marker.
func (m *Member) inspect(ctx context.Context) error {
	text, err := m.Conn.Info(ctx)
	if err != nil {
		return err
	}
	m.info = redisinfo.Parse(text)
	if err := mustBeMaster(m.info, m.ByMarker); err != nil {
		return err
	}
	if m.marker, err = m.Conn.Marker(ctx); err != nil {
		return err
	}
	if m.runID = m.info.RunID(); m.runID == "" {
		m.identity.learn(m.marker)
		m.runID = m.identity.get()
	}
	m.memory = memoryOf(m.runID, m.info, m.EvictionOK)
	return nil
}

// says returns the marker; ok is false if it is another server's.
func (m *Member) says() (Marker, bool) {
	read, ok := ParseMarker(m.marker)
	return read, ok && read.RunID == m.memory && read.DB == strconv.Itoa(m.DB)
}

// votesFor reports whether the server votes for a configuration already.
func (m *Member) votesFor(f Fingerprint) bool {
	return m.memory != "" && m.marker == votingMarker(f, m.memory, m.DB)
}

// prefix is the part of the first round's marker that names this act and this server.
func (m *Member) prefix() string {
	fields := strings.SplitAfterN(m.marker, "|", 6)
	return strings.Join(fields[:min(5, len(fields))], "")
}

// quarantine turns the first round's marker into a quarantine whose count can begin.
func (m *Member) quarantine(length time.Duration) string {
	_, rest, _ := strings.Cut(m.prefix(), "|")
	return string(Quarantined) + "|" + rest + strconv.FormatInt(millis(length), 10) + "|0|0"
}

// left turns the first round's marker into that of a node that has left the set.
func (m *Member) left() string { return strings.Replace(m.marker, "|"+changeNonce, "|"+leftNonce, 1) }

// Members is the nodes of an act.
type Members []*Member

// each calls do for all members concurrently, and joins their wrapped errors.
func (all Members) each(
	ctx context.Context, wrap func(string, error) error, do func(context.Context, *Member) error,
) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, m := range all {
		wg.Go(func() {
			if err := do(ctx, m); err != nil {
				errs[i] = wrap(m.Name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// distinct requires that no two members are one server.
func (all Members) distinct(wrap func(string, error) error) error {
	first := make(map[string]string)
	for _, m := range all {
		if m.runID == "" {
			continue
		}
		if other, taken := first[m.runID]; taken {
			return wrap(m.Name, fmt.Errorf("%w: it is the same server as %s: remove one", driver.ErrDuplicate, other))
		}
		first[m.runID] = m.Name
	}
	return nil
}
