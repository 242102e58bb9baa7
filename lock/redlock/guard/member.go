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
)

// ErrNotNew says that a node cannot be vouched for: it may have forgotten locks, or
// may come to.
var ErrNotNew = errors.New("node is not new")

// MemberConn is the one connection of an act to a node: what is read and written on it
// is one server's.
type MemberConn interface {
	// Info is the reply to INFO.
	Info(ctx context.Context) (string, error)
	// Marker is the value of [MarkerKey], "" if there is none.
	Marker(ctx context.Context) (string, error)
	// Mark runs mark.lua.
	Mark(ctx context.Context, m Mark) (code int, marker string, err error)
	// Replace runs replace.lua.
	Replace(ctx context.Context, prefix, marker string) (bool, error)
	// Used names what shows that locks were granted here; "" if nothing does.
	Used(ctx context.Context) (string, error)
}

// Mark is the first round of an act, to one node.
type Mark struct {
	State       State // Quarantined by a vouch, Changing by a change
	Fingerprint Fingerprint
	RunID       string // incarnation of the process that this connection saw
	DB          int
	Nonce       string // of the act
	Length      time.Duration
	Read        string      // of a change: the marker that is to be replaced, "" if there is none
	From        Fingerprint // of a change: the configuration that is to be replaced
}

// Args are the arguments of mark.lua.
func (m Mark) Args() []any {
	return []any{string(m.State), string(m.Fingerprint), m.RunID, m.DB, m.Nonce, millis(m.Length), m.Read,
		string(m.From)}
}

// The codes of a reply of mark.lua.
const (
	MarkRefused = -1 // the marker stands in the way
	Marked      = 0
	MarkVotes   = 1 // it votes already
)

// takeBackTime bounds what is done after an act has failed.
const takeBackTime = 500 * time.Millisecond

// Member is a node that an act is about.
type Member struct {
	Name string
	DB   int
	Conn MemberConn
	// EvictionOK is Config's.
	EvictionOK bool

	runID  string // of its process
	memory string // incarnation of the process, which its marker names
	marker string // as it was read, and as the first round left it
	before string // what the first round of a change replaced
	away   error  // why it could not be asked
}

// inspect reads who the server is, and what its marker says.
func (m *Member) inspect(ctx context.Context) error {
	text, err := m.Conn.Info(ctx)
	if err != nil {
		return err
	}
	info, err := Master(text)
	if err != nil {
		return err
	}
	m.runID, m.memory = info.RunID(), info.RunID()
	if !m.EvictionOK {
		m.memory = info.Incarnation()
	}
	m.marker, err = m.Conn.Marker(ctx)
	return err
}

// says is the marker, if it is of this very server.
func (m *Member) says() (Marker, bool) {
	read, ok := ParseMarker(m.marker)
	return read, ok && read.RunID == m.memory && read.DB == strconv.Itoa(m.DB)
}

// votesFor reports that the server needs no act to vote for a configuration.
func (m *Member) votesFor(f Fingerprint) bool {
	return m.memory != "" && m.marker == votingMarker(f, m.memory, m.DB)
}

// prefix of the marker that the first round wrote, which names this act and this server.
func (m *Member) prefix() string {
	fields := strings.SplitAfterN(m.marker, "|", 6)
	return strings.Join(fields[:min(5, len(fields))], "")
}

// quarantine is the marker of the first round as a quarantine that is to be counted.
func (m *Member) quarantine(length time.Duration) string {
	_, rest, _ := strings.Cut(m.prefix(), "|")
	return string(Quarantined) + "|" + rest + strconv.FormatInt(millis(length), 10) + "|0|0"
}

// left is the marker of the first round of a node that is no member any more.
func (m *Member) left() string { return strings.Replace(m.marker, "|"+changeNonce, "|"+leftNonce, 1) }

// Members are the nodes of an act.
type Members []*Member

// each does something with all members at once, and joins what wrap makes of their errors.
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
			return wrap(m.Name, fmt.Errorf("%w: it is %s", driver.ErrDuplicate, other))
		}
		first[m.runID] = m.Name
	}
	return nil
}
