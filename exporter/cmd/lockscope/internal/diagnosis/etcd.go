package diagnosis

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
	"github.com/lockscope/lockscope/lock/etcdlock"
)

// etcdFacts is what a cluster tells.
type etcdFacts struct {
	Members []etcdMember // that were named
	All     int          // members of the cluster; 0 if nobody tells
	Learner int          // of those
	Alarms  []string
	Rights  error
	Quorum  Latency
}

type etcdMember struct {
	Endpoint string
	Err      error
	Status   *clientv3.StatusResponse
}

func (f *etcdFacts) up() (members []etcdMember) {
	for _, m := range f.Members {
		if m.Err == nil {
			members = append(members, m)
		}
	}
	return members
}

// Etcd examines a cluster, for p.For plus a moment, and changes nothing: the right to write
// is tried with a transaction whose condition cannot hold. What goes wrong, also the end of
// ctx, is in its results.
func Etcd(ctx context.Context, b *backend.Etcd, p Policy) Examination {
	e := Examination{Backend: b.System()}
	if err := b.Connect(ctx); err != nil && b.Client == nil {
		e.add("connection", "", fail(err.Error(), "see --etcd and --etcd-username"))
		e.Nodes = []BackendNode{{Node: b.Address(), Err: err}}
		return e
	}
	f := askEtcd(ctx, b, p)
	for _, m := range f.Members {
		n := BackendNode{Node: m.Endpoint, Err: m.Err, Ping: f.Quorum}
		if m.Err == nil {
			n.Version, n.Role = m.Status.Version, etcdRole(m.Status)
		}
		e.Nodes = append(e.Nodes, n)
		e.add("connection", m.Endpoint, checkEtcdMember(m, f))
	}
	e.add("quorum", "", checkEtcdQuorum(f))
	e.add("nodes", "", checkEtcdSize(f))
	e.add("cluster", "", checkEtcdCluster(f))
	e.add("version", "", checkEtcdVersions(f))
	e.add("alarms", "", checkEtcdAlarms(f))
	if f.Quorum.Count > 0 {
		e.add("rights", "", checkEtcdRights(f, b.Prefix, b.FenceKey))
		e.add("latency", "", judgeLatency(f.Quorum, p))
	}
	return e
}

func askEtcd(ctx context.Context, b *backend.Etcd, p Policy) etcdFacts {
	f := etcdFacts{Members: make([]etcdMember, len(b.Endpoints()))}
	reach, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	var asking sync.WaitGroup
	for i, endpoint := range b.Endpoints() {
		asking.Go(func() {
			f.Members[i] = askMember(reach, b, endpoint)
		})
	}
	asking.Go(func() {
		if list, err := b.Client.MemberList(reach); err == nil {
			f.All = len(list.Members)
			for _, m := range list.Members {
				if m.IsLearner {
					f.Learner++
				}
			}
		}
	})
	asking.Wait()
	f.Alarms = etcdAlarms(reach, b.Client, f.up())
	f.Quorum = sampleLatency(ctx, p.For, func() error {
		try, cancel := context.WithTimeout(ctx, reachTimeout)
		defer cancel()
		_, err := b.Client.Get(try, b.FenceKey)
		if errors.Is(err, rpctypes.ErrPermissionDenied) || errors.Is(err, rpctypes.ErrUserEmpty) {
			err = nil // an answer all the same: see rights
		}
		return err
	})
	if f.Quorum.Count > 0 {
		f.Rights = etcdRights(ctx, b)
	}
	return f
}

// askMember dials before it asks: the client tries again and again, and keeps to itself why.
func askMember(ctx context.Context, b *backend.Etcd, endpoint string) etcdMember {
	if err := b.Dial(ctx, endpoint); err != nil {
		return etcdMember{endpoint, err, nil}
	}
	status, err := b.Client.Status(ctx, endpoint)
	if err != nil && ctx.Err() != nil {
		err = errors.New("it takes connections and does not answer")
	}
	return etcdMember{endpoint, err, status}
}

func etcdAlarms(ctx context.Context, client *clientv3.Client, up []etcdMember) (alarms []string) {
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

// etcdRights tries what a lock needs. A key that was made before the first revision there is cannot be.
func etcdRights(ctx context.Context, b *backend.Etcd) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	key := etcdlock.MutexPrefix(b.Prefix, "lockscope-doctor") + "/0"
	_, err := b.Client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "<", 0)).
		Then(clientv3.OpGet(key), clientv3.OpPut(key, ""),
			clientv3.OpGet(b.FenceKey), clientv3.OpPut(b.FenceKey, "")).Commit()
	return err
}

func etcdRole(s *clientv3.StatusResponse) string {
	switch {
	case s.IsLearner:
		return "learner"
	case s.Leader == s.Header.MemberId:
		return "leader"
	}
	return "follower"
}

func checkEtcdMember(m etcdMember, f etcdFacts) Result {
	switch {
	case m.Err != nil && f.Quorum.Count > 0:
		return warn(m.Err.Error(), "locks work with what is left: mend it before another one fails")
	case m.Err != nil:
		return fail(m.Err.Error(), cmp.Or(backend.CertificateAdvice(m.Err),
			"is it up, is the address right, may this machine reach it, does it want https:// (--tls-ca, --tls-cert)?"))
	case m.Status.Leader == 0:
		return fail("it knows no leader", "it does not reach a majority of the members: see their peer addresses")
	}
	return pass(etcdRole(m.Status))
}

func checkEtcdQuorum(f etcdFacts) Result {
	if f.Quorum.Count == 0 {
		return fail("no majority answers: "+errorText(f.Quorum.Err), "no lock can be taken now: mend the members first; see connection")
	}
	return pass("a majority answers")
}

func checkEtcdSize(f etcdFacts) Result {
	if f.All == 0 {
		return warn("how many members there are is not told", "see quorum")
	}
	n := f.All - f.Learner
	detail := fmt.Sprintf("%d members, %d named: %d may fail", n, len(f.Members), n-n/2-1)
	switch {
	case n == 1:
		return warn("1 member", "when it is down nobody locks: use three")
	case n%2 == 0:
		return warn(detail, fmt.Sprintf("%d members tolerate no more failures than %d: add or drop one", n, n-1))
	}
	return pass(detail)
}

func checkEtcdCluster(f etcdFacts) Result {
	first := uint64(0)
	for _, m := range f.up() {
		id := m.Status.Header.ClusterId
		if first != 0 && id != first {
			return fail("the endpoints are members of different clusters", "two processes would each get the lock from one of them: name members of one")
		}
		first = id
	}
	if first == 0 {
		return warn("not known", "see connection")
	}
	return pass(fmt.Sprintf("%x", first))
}

func checkEtcdVersions(f etcdFacts) Result {
	var versions []string
	for _, m := range f.up() {
		versions = append(versions, m.Status.Version)
	}
	slices.Sort(versions)
	switch versions = slices.Compact(versions); len(versions) {
	case 0:
		return warn("not known", "see connection")
	case 1:
		return pass(versions[0])
	}
	return warn(strings.Join(versions, ", "), "members of different versions do as the oldest: finish the upgrade")
}

func checkEtcdAlarms(f etcdFacts) Result {
	all := strings.Join(f.Alarms, ", ")
	switch {
	case strings.Contains(all, "NOSPACE"):
		return fail(all+": nothing can be granted", "compact, defragment, then etcdctl alarm disarm, or raise --quota-backend-bytes")
	case strings.Contains(all, "CORRUPT"):
		return fail(all, "members disagree about the data: replace the member that is wrong before anybody locks")
	case all != "" && f.Quorum.Count > 0:
		return warn(all, "see the logs of the members")
	case len(f.up()) == 0:
		return warn("not known", "see connection")
	}
	return pass("none")
}

func checkEtcdRights(f etcdFacts, prefix, fenceKey string) Result {
	mend := fmt.Sprintf("the user's role needs readwrite on the prefix %q and on the key %q", prefix, fenceKey)
	switch {
	case errors.Is(f.Rights, rpctypes.ErrNoSpace):
		return warn("not known while there is no space", "see alarms")
	case errors.Is(f.Rights, rpctypes.ErrUserEmpty):
		return fail("the cluster wants a user", "give --etcd-username and --etcd-password-file")
	case errors.Is(f.Rights, rpctypes.ErrPermissionDenied):
		return fail(f.Rights.Error(), mend)
	case f.Rights != nil:
		return warn(f.Rights.Error(), "ask again; "+mend)
	}
	return pass("the user may do all that locks need")
}
