package etcdinspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/etcdlock"
)

// facts are those of a cluster.
type facts struct {
	Members []member // the given ones
	All     int      // members of the cluster; 0 if unknown
	Learner int      // of those
	Alarms  []string
	Rights  error
	Quorum  error // why no majority answers
}

type member struct {
	Endpoint string
	Err      error
	Status   *clientv3.StatusResponse
}

func (f *facts) up() (members []member) {
	for _, m := range f.Members {
		if m.Err == nil {
			members = append(members, m)
		}
	}
	return members
}

// Examine implements inspect.Inspector. The right to write is tried with a transaction whose condition cannot hold.
func (b *Inspector) Examine(ctx context.Context, _ time.Duration) inspect.Examination {
	e := inspect.Examination{}
	if err := b.connect(ctx); err != nil && b.client == nil {
		e.Add("connection", "", inspect.Failed(err.Error(), "check --etcd and --etcd-username"))
		e.Nodes = []inspect.Node{{Node: b.Address(), Err: err}}
		return e
	}
	f := ask(ctx, b)
	for _, m := range f.Members {
		n := inspect.Node{Node: m.Endpoint, Err: m.Err}
		if m.Err == nil {
			n.Version, n.Role = m.Status.Version, roleOf(m.Status)
		}
		e.Nodes = append(e.Nodes, n)
		e.Add("connection", m.Endpoint, checkMember(m, f))
	}
	e.Add("quorum", "", checkQuorum(f))
	e.Add("nodes", "", checkSize(f))
	e.Add("cluster", "", checkCluster(f))
	e.Add("version", "", checkVersions(f))
	e.Add("alarms", "", checkAlarms(f))
	if e.Answers = f.Quorum == nil; e.Answers {
		e.Add("rights", "", checkRights(f, b.prefix, b.fenceKey))
	}
	return e
}

func ask(ctx context.Context, b *Inspector) facts {
	f := facts{Members: make([]member, len(b.config.Endpoints))}
	reach, cancel := context.WithTimeout(ctx, inspect.ReachTimeout)
	defer cancel()
	var asking sync.WaitGroup
	for i, endpoint := range b.config.Endpoints {
		asking.Go(func() {
			f.Members[i] = askMember(reach, b, endpoint)
		})
	}
	asking.Go(func() {
		if list, err := b.client.MemberList(reach); err == nil {
			f.All = len(list.Members)
			for _, m := range list.Members {
				if m.IsLearner {
					f.Learner++
				}
			}
		}
	})
	asking.Wait()
	f.Alarms = alarmsOf(reach, b.client, f.up())
	ctx, cancel = context.WithTimeout(ctx, inspect.ReachTimeout)
	defer cancel()
	if f.Quorum = b.answers(ctx); f.Quorum == nil {
		f.Rights = rightsIn(ctx, b)
	}
	return f
}

// askMember dials before it asks: the client would retry without reporting the reason.
func askMember(ctx context.Context, b *Inspector, endpoint string) member {
	if err := b.dial(ctx, endpoint); err != nil {
		return member{endpoint, err, nil}
	}
	status, err := b.client.Status(ctx, endpoint)
	if err != nil && ctx.Err() != nil {
		err = errors.New("it accepts connections but does not answer")
	}
	return member{endpoint, err, status}
}

func alarmsOf(ctx context.Context, client *clientv3.Client, up []member) (alarms []string) {
	for _, m := range up {
		alarms = append(alarms, m.Status.Errors...)
	}
	if list, err := client.AlarmList(ctx); err == nil {
		for _, a := range list.Alarms {
			if a.Alarm != etcdserverpb.AlarmType_NONE {
				alarms = append(alarms, a.Alarm.String())
			}
		}
	}
	slices.Sort(alarms)
	return slices.Compact(alarms)
}

// rightsIn tries the rights that a lock needs, under a condition that never holds: no key has a negative revision.
func rightsIn(ctx context.Context, b *Inspector) error {
	key := etcdlock.MutexPrefix(b.prefix, "lockscope-doctor") + "/0"
	_, err := b.client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "<", 0)).
		Then(clientv3.OpGet(key), clientv3.OpPut(key, ""),
			clientv3.OpGet(b.fenceKey), clientv3.OpPut(b.fenceKey, "")).Commit()
	return err
}

func roleOf(s *clientv3.StatusResponse) string {
	switch {
	case s.IsLearner:
		return "learner"
	case s.Leader == s.Header.MemberId:
		return "leader"
	}
	return "follower"
}

func checkMember(m member, f facts) inspect.Result {
	switch {
	case m.Err != nil && f.Quorum == nil:
		return inspect.Warned(m.Err.Error(), "locks still work: repair it before another one fails")
	case m.Err != nil:
		return inspect.Failed(m.Err.Error(), cmp.Or(inspect.CertificateAdvice(m.Err),
			inspect.ReachAdvice+"; if it requires TLS, use https:// and --tls-ca"))
	case m.Status.Leader == 0:
		return inspect.Failed("it has no leader",
			"it cannot reach a majority of the members: check their peer addresses")
	}
	return inspect.Passed(roleOf(m.Status))
}

func checkQuorum(f facts) inspect.Result {
	if f.Quorum != nil {
		return inspect.Failed("no majority answers: "+f.Quorum.Error(),
			"nobody can take a lock now: repair the members; see the connection check")
	}
	return inspect.Passed("a majority answers")
}

func checkSize(f facts) inspect.Result {
	if f.All == 0 {
		return inspect.Warned("the number of members is unknown", "see the quorum check")
	}
	n := f.All - f.Learner
	detail := fmt.Sprintf("%d members, %d given: %d may fail", n, len(f.Members), n-n/2-1)
	if few, ok := inspect.FewVoters(n, "member", detail); !ok {
		return few
	}
	return inspect.Passed(detail)
}

func checkCluster(f facts) inspect.Result {
	first := uint64(0)
	for _, m := range f.up() {
		id := m.Status.Header.ClusterId
		if first != 0 && id != first {
			return inspect.Failed("the endpoints are members of different clusters",
				"two processes could each get the lock from one of them: give members of one cluster")
		}
		first = id
	}
	if first == 0 {
		return inspect.Warned("unknown", "see the connection check")
	}
	return inspect.Passed(fmt.Sprintf("%x", first))
}

func checkVersions(f facts) inspect.Result {
	var versions []string
	for _, m := range f.up() {
		versions = append(versions, m.Status.Version)
	}
	slices.Sort(versions)
	switch versions = slices.Compact(versions); len(versions) {
	case 0:
		return inspect.Warned("unknown", "see the connection check")
	case 1:
		return inspect.Passed(versions[0])
	}
	return inspect.Warned(strings.Join(versions, ", "),
		"a mixed cluster behaves like its oldest member: finish the upgrade")
}

func checkAlarms(f facts) inspect.Result {
	all := strings.Join(f.Alarms, ", ")
	switch {
	case strings.Contains(all, "NOSPACE"):
		return inspect.Failed(all+": etcd grants nothing",
			"compact and defragment, then run etcdctl alarm disarm, or raise --quota-backend-bytes")
	case strings.Contains(all, "CORRUPT"):
		return inspect.Failed(all,
			"members disagree about the data: replace the wrong member before you use locks")
	case all != "" && f.Quorum == nil:
		return inspect.Warned(all, "read the logs of the members")
	case len(f.up()) == 0:
		return inspect.Warned("unknown", "see the connection check")
	}
	return inspect.Passed("none")
}

func checkRights(f facts, prefix, fenceKey string) inspect.Result {
	grant := fmt.Sprintf("grant the user's role readwrite on the prefix %q and on the key %q", prefix, fenceKey)
	switch {
	case errors.Is(f.Rights, rpctypes.ErrNoSpace):
		return inspect.Warned("unknown while etcd is out of space", "see the alarms check")
	case errors.Is(f.Rights, rpctypes.ErrUserEmpty):
		return inspect.Failed("the cluster requires a user", "set --etcd-username and --etcd-password-file")
	case errors.Is(f.Rights, rpctypes.ErrPermissionDenied):
		return inspect.Failed(f.Rights.Error(), grant)
	case f.Rights != nil:
		return inspect.Warned(f.Rights.Error(), "try again; "+grant)
	}
	return inspect.Passed("the user has every right that locks need")
}
