package orphan

import (
	"context"
	"errors"
	"fmt"
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
// orphan. said takes the caller's word instead, unless two sources are one server.
func (o *Redlock) Prove(ctx context.Context, said bool) {
	o.one, o.said, o.doubt = said, said, ""
	if said {
		if o.doubt = o.sameServer(ctx); o.doubt != "" {
			o.one, o.doubt = false, "orphans were not looked for: "+o.doubt+": name each node once"
		}
		return
	}
	members, errs := make([]member, len(o.sources)), make([]error, len(o.sources))
	var wg sync.WaitGroup
	for i, src := range o.sources {
		wg.Go(func() { members[i], errs[i] = membership(ctx, src) })
	}
	wg.Wait()
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
	if o.doubt == "" {
		o.doubt = disagreement(known, len(o.sources))
	}
	o.one = o.doubt == ""
	if !o.one {
		o.doubt = "orphans were not looked for: " + o.doubt +
			". If these servers are all the nodes of one Redlock, declare it (WithOneRedlock, --redlock)"
	}
}

// sameServer names two sources that are one server, which would count twice; "" if no two are known to be. A server
// that does not answer counts as unknown when its keys are compared.
func (o *Redlock) sameServer(ctx context.Context) string {
	known := make([]member, len(o.sources))
	var wg sync.WaitGroup
	for i, src := range o.sources {
		if client, standalone := src.Client.(*redis.Client); standalone {
			wg.Go(func() {
				info, _ := node.Info(ctx, client)
				known[i] = member{name: src.Name, runID: info.RunID()}
			})
		}
	}
	wg.Wait()
	return twice(known)
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
	heads, err := keyreader.Heads(ctx, client, []string{guard.MarkerKey}, keyreader.HeadSize)
	if err != nil {
		return member{}, unreadable(err)
	}
	m, ok := guard.ParseMarker(heads[0].Text)
	switch {
	case !ok || m.State == guard.Changing:
		return member{}, errNoMember
	case !m.IsOf(info.Incarnation()) && !m.IsOf(info.RunID()) || m.DB != strconv.Itoa(s.DB):
		return member{}, fmt.Errorf("%w since it restarted, or its data came from another server", errNoMember)
	}
	return member{name: s.Name, runID: m.RunID, fingerprint: m.Fingerprint}, nil
}

// unreadable tells a server that refuses from one that does not answer.
func unreadable(err error) error {
	if node.IsRefused(err) {
		return fmt.Errorf("%w to this user: grant %%R~%s", errNoMember, guard.MarkerKey)
	}
	return err
}
