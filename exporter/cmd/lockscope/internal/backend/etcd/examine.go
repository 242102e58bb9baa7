package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/lock/etcdlock"
)

// facts are those of a cluster.
type facts struct {
	Members []member // the given ones
	All     int      // members of the cluster; 0 if unknown
	Learner int      // of those
	Alarms  []string
	Rights  error
	Quorum  diagnosis.Latency
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

// Examine examines a cluster, for p.For plus a moment, and changes nothing: the right to write
// is tried with a transaction whose condition cannot hold. Errors, also the end of ctx, are in
// its results.
func (b *Backend) Examine(ctx context.Context, p diagnosis.Policy) diagnosis.Examination {
	e := diagnosis.Examination{Backend: b.System()}
	if err := b.connect(ctx); err != nil && b.client == nil {
		e.Add("connection", "", diagnosis.Failed(err.Error(), "check --etcd and --etcd-username"))
		e.Nodes = []diagnosis.BackendNode{{Node: b.Address(), Err: err}}
		return e
	}
	f := ask(ctx, b, p)
	for _, m := range f.Members {
		n := diagnosis.BackendNode{Node: m.Endpoint, Err: m.Err, Ping: f.Quorum}
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
	if f.Quorum.Answered > 0 {
		e.Add("rights", "", checkRights(f, b.prefix, b.fenceKey))
		e.Add("latency", "", diagnosis.JudgeLatency(f.Quorum, p))
	}
	return e
}

func ask(ctx context.Context, b *Backend, p diagnosis.Policy) facts {
	f := facts{Members: make([]member, len(b.config.Endpoints))}
	reach, cancel := context.WithTimeout(ctx, diagnosis.ReachTimeout)
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
	f.Quorum = diagnosis.SampleLatency(ctx, p, func(ctx context.Context) error {
		_, err := b.client.Get(ctx, b.fenceKey)
		if errors.Is(err, rpctypes.ErrPermissionDenied) || errors.Is(err, rpctypes.ErrUserEmpty) {
			err = nil // an answer all the same: see rights
		}
		return err
	})
	if f.Quorum.Answered > 0 {
		f.Rights = rightsIn(ctx, b)
	}
	return f
}

// askMember dials before it asks: the client would retry without reporting the reason.
func askMember(ctx context.Context, b *Backend, endpoint string) member {
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
func rightsIn(ctx context.Context, b *Backend) error {
	ctx, cancel := context.WithTimeout(ctx, diagnosis.ReachTimeout)
	defer cancel()
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

func checkMember(m member, f facts) diagnosis.Result {
	switch {
	case m.Err != nil && f.Quorum.Answered > 0:
		return diagnosis.Warned(m.Err.Error(), "locks still work: repair it before another one fails")
	case m.Err != nil:
		return diagnosis.Failed(m.Err.Error(), cmp.Or(backend.CertificateAdvice(m.Err),
			backend.ReachAdvice+"; if it requires TLS, use https:// and --tls-ca"))
	case m.Status.Leader == 0:
		return diagnosis.Failed("it has no leader",
			"it cannot reach a majority of the members: check their peer addresses")
	}
	return diagnosis.Passed(roleOf(m.Status))
}

func checkQuorum(f facts) diagnosis.Result {
	if f.Quorum.Answered == 0 {
		return diagnosis.Failed("no majority answers: "+diagnosis.ErrorText(f.Quorum.Err),
			"nobody can take a lock now: repair the members; see the connection check")
	}
	return diagnosis.Passed("a majority answers")
}

func checkSize(f facts) diagnosis.Result {
	if f.All == 0 {
		return diagnosis.Warned("the number of members is unknown", "see the quorum check")
	}
	n := f.All - f.Learner
	detail := fmt.Sprintf("%d members, %d given: %d may fail", n, len(f.Members), n-n/2-1)
	switch {
	case n == 1:
		return diagnosis.Warned("1 member", "while it is down nobody can take a lock: use three")
	case n%2 == 0:
		return diagnosis.Warned(detail,
			fmt.Sprintf("%d members tolerate no more failures than %d: add or remove one", n, n-1))
	}
	return diagnosis.Passed(detail)
}

func checkCluster(f facts) diagnosis.Result {
	first := uint64(0)
	for _, m := range f.up() {
		id := m.Status.Header.ClusterId
		if first != 0 && id != first {
			return diagnosis.Failed("the endpoints are members of different clusters",
				"two processes could each get the lock from one of them: give members of one cluster")
		}
		first = id
	}
	if first == 0 {
		return diagnosis.Warned("unknown", "see the connection check")
	}
	return diagnosis.Passed(fmt.Sprintf("%x", first))
}

func checkVersions(f facts) diagnosis.Result {
	var versions []string
	for _, m := range f.up() {
		versions = append(versions, m.Status.Version)
	}
	slices.Sort(versions)
	switch versions = slices.Compact(versions); len(versions) {
	case 0:
		return diagnosis.Warned("unknown", "see the connection check")
	case 1:
		return diagnosis.Passed(versions[0])
	}
	return diagnosis.Warned(strings.Join(versions, ", "),
		"a mixed cluster behaves like its oldest member: finish the upgrade")
}

func checkAlarms(f facts) diagnosis.Result {
	all := strings.Join(f.Alarms, ", ")
	switch {
	case strings.Contains(all, "NOSPACE"):
		return diagnosis.Failed(all+": etcd grants nothing",
			"compact and defragment, then run etcdctl alarm disarm, or raise --quota-backend-bytes")
	case strings.Contains(all, "CORRUPT"):
		return diagnosis.Failed(all,
			"members disagree about the data: replace the wrong member before you use locks")
	case all != "" && f.Quorum.Answered > 0:
		return diagnosis.Warned(all, "read the logs of the members")
	case len(f.up()) == 0:
		return diagnosis.Warned("unknown", "see the connection check")
	}
	return diagnosis.Passed("none")
}

func checkRights(f facts, prefix, fenceKey string) diagnosis.Result {
	grant := fmt.Sprintf("grant the user's role readwrite on the prefix %q and on the key %q", prefix, fenceKey)
	switch {
	case errors.Is(f.Rights, rpctypes.ErrNoSpace):
		return diagnosis.Warned("unknown while etcd is out of space", "see the alarms check")
	case errors.Is(f.Rights, rpctypes.ErrUserEmpty):
		return diagnosis.Failed("the cluster requires a user", "set --etcd-username and --etcd-password-file")
	case errors.Is(f.Rights, rpctypes.ErrPermissionDenied):
		return diagnosis.Failed(f.Rights.Error(), grant)
	case f.Rights != nil:
		return diagnosis.Warned(f.Rights.Error(), "try again; "+grant)
	}
	return diagnosis.Passed("the user has every right that locks need")
}
