package orphan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

// Prove finds out whether the sources are all the nodes of one Redlock. The markers by which nodes vote prove it:
// each must belong to that very server, name one set of nodes, and name as many nodes as there are sources. A node
// that does not answer counts as one of them and as unknown for the rest of the sweep, so it cannot make any lock an
// orphan. So does a node that may have lost locks. said takes the caller's word instead, unless two sources are one
// server.
func (o *Redlock) Prove(ctx context.Context, said bool) {
	o.one, o.said, o.doubt = said, said, ""
	members, errs := make([]member, len(o.sources)), make([]error, len(o.sources))
	var wg sync.WaitGroup
	for i, src := range o.sources {
		wg.Go(func() { members[i], errs[i] = membership(ctx, src) })
	}
	wg.Wait()
	if one := twice(members); said && one != "" {
		o.one, o.doubt = false, "orphans were not looked for: "+one+": name each node once"
	}
	if !said {
		o.prove(members, errs)
	}
	if o.one {
		o.suspect(members)
	}
}

// prove compares what the sources report of themselves.
func (o *Redlock) prove(members []member, errs []error) {
	var known []member
	for i, src := range o.sources {
		switch err := errs[i]; {
		case errors.Is(err, errNoMember) && len(o.sources) == 1:
			return // nothing suggests that it has orphans
		case errors.Is(err, errNoMember):
			o.doubt = fmt.Sprintf("%s: %v", src.Name, err)
		case err != nil:
			o.MarkDown(src)
		default:
			known = append(known, members[i])
		}
	}
	differ := disagreement(known, len(o.sources))
	o.open = differ == "" || len(known) == 0 && len(o.down) > 0
	o.doubt = cmp.Or(o.doubt, differ)
	o.one = o.doubt == ""
	if !o.one {
		o.doubt = "orphans were not looked for: " + o.doubt +
			". If these servers are all the nodes of one Redlock, declare it (WithOneRedlock, --redlock)"
	}
}

// suspect makes unknown what nodes do not have that may have lost it: somebody may hold a lock with their votes. Nodes
// of other libraries have no markers, so a missing one shows a loss only where another node has one.
func (o *Redlock) suspect(members []member) {
	if !slices.ContainsFunc(members, func(m member) bool { return m.fingerprint != "" }) {
		return
	}
	var names []string
	for i, src := range o.sources {
		if members[i].forgot {
			o.MarkDown(src)
			names = append(names, src.Name)
		}
	}
	if len(names) > 0 {
		o.doubt = "these nodes may have lost locks that are still held, so no lock counts as missing there: " +
			strings.Join(names, ", ")
	}
}

// twice names two members that are one server.
func twice(members []member) string {
	for i, m := range members {
		for _, other := range members[:i] {
			if m.runID != "" && other.runID == m.runID {
				return fmt.Sprintf("%s and %s are the same server", other.name, m.name)
			}
		}
	}
	return ""
}

// member is what a server reports about the Redlock that it votes for.
type member struct {
	name        string
	runID       string
	fingerprint guard.Fingerprint
	forgot      bool // it may have lost locks that are still held
}

// errNoMember reports a server that answers, but not as a node of a Redlock.
var errNoMember = errors.New("it does not say which Redlock it votes for")

// disagreement says why members are not all the nodes of one Redlock of that size; "" if they are.
func disagreement(known []member, nodes int) string {
	if len(known) == 0 {
		return "no server answers"
	}
	first := known[0]
	for _, m := range known {
		if m.fingerprint != first.fingerprint {
			return fmt.Sprintf("%s and %s vote for different Redlocks", first.name, m.name)
		}
	}
	if one := twice(known); one != "" {
		return one
	}
	if count, _, _ := strings.Cut(string(first.fingerprint), ":"); count != strconv.Itoa(nodes) {
		return fmt.Sprintf("%s votes for a Redlock of %s nodes, and the number given is %d", first.name, count, nodes)
	}
	return ""
}

// membership reads the marker of a server. An error other than errNoMember is that of the connection or the context.
func membership(ctx context.Context, s *node.Source) (member, error) {
	client, standalone := s.Client.(*redis.Client)
	if !standalone {
		return member{}, fmt.Errorf("%w: it is a cluster", errNoMember)
	}
	info, err := node.Info(ctx, client)
	if err != nil {
		return member{}, err
	}
	found := member{name: s.Name, runID: info.RunID()}
	heads, err := keyreader.Heads(ctx, client, []string{guard.MarkerKey}, keyreader.HeadSize)
	if err != nil {
		return found, unreadable(err)
	}
	m, ok := guard.ParseMarker(heads[0].Text)
	identity, _, _ := strings.Cut(m.RunID, "+")
	found.fingerprint = m.Fingerprint
	found.forgot = m.State != guard.Voting || m.RunID != info.IncarnationOf(identity) // evicted keys since
	switch {
	case !ok || m.State == guard.Changing:
		return found, errNoMember
	case !m.IsOf(info.Incarnation()) && !m.IsOf(info.RunID()) || m.DB != strconv.Itoa(s.DB):
		found.forgot = true
		return found, fmt.Errorf("%w since it restarted, or its data came from another server", errNoMember)
	}
	found.runID = cmp.Or(found.runID, m.RunID)
	return found, nil
}

// unreadable tells a server that refuses from one that does not answer.
func unreadable(err error) error {
	if node.IsRefused(err) {
		return fmt.Errorf("%w to this user: grant %%R~%s", errNoMember, guard.MarkerKey)
	}
	return err
}
