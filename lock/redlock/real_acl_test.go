package redlock_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// leastPrivilege lists all rights that lockscope needs on a server, as README.md of this folder quotes them. HELLO and
// AUTH need no grant. Add +select for a database other than 0, and ~<prefix>* for another prefix.
const leastPrivilege = "ACL SETUSER lockscope reset on >" + aclPassword +
	" ~lock:* ~lockscope:* resetchannels &lockscope:wake:*" +
	" +eval +evalsha +info +subscribe +publish +ping +time" +
	" +get +mget +set +del +exists +pttl +pexpire" +
	" +zadd +zrem +zscore +zrank +zrange +zpopmin +zcard +hget +hgetall +hlen +hset +hdel"

const aclPassword = "correct-horse-battery"

func runACL(t *testing.T, c *redis.Client, line string) {
	t.Helper()
	var args []any
	for _, field := range strings.Fields(line) {
		args = append(args, field)
	}
	must(t, c.Do(t.Context(), args...).Err())
}

func (f *realNodes) clientsAs(user, password string) (all []redis.UniversalClient) {
	for _, s := range f.servers {
		all = append(all, plainClient(f.t, &redis.Options{Addr: s.Addr(), Username: user, Password: password}))
	}
	return all
}

func TestRealLeastPrivilege(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	f.vouchForAll()
	for _, c := range f.admin {
		runACL(t, c, leastPrivilege)
		must(t, c.ScriptFlush(t.Context()).Err())
		must(t, c.Do(t.Context(), "ACL", "LOG", "RESET").Err())
	}
	runACL(t, f.admin[0], strings.NewReplacer("SETUSER lockscope", "SETUSER noping", " +ping",
		"").Replace(leastPrivilege))
	must(t, tryEverything(t, f, patience, "lockscope", aclPassword))
	f.outlastHeartbeat("lockscope", "noping")
	for i, c := range f.admin {
		denied, err := c.ACLLog(t.Context(), 100).Result()
		must(t, err)
		if i == 0 && !slices.ContainsFunc(denied, func(d *redis.ACLLogEntry) bool {
			return d.Username == "noping" &&
				d.Object == "ping"
		}) {
			t.Error("+ping is not needed")
		}
		for _, d := range denied {
			if d.Username == "noping" {
				continue
			}
			t.Errorf("node %d: %s denied %s %q in %s", i, d.Username, d.Reason, d.Object, d.Context)
		}
	}
	for _, c := range []string{
		"FLUSHALL", "FLUSHDB", "KEYS *", "SCAN 0", "CONFIG SET maxmemory 1", "SHUTDOWN", "ACL LIST",
		"GET customer:1", "SET customer:1 x", "DEL customer:1", "EVAL return(redis.call('get',KEYS[1])) 1 customer:1",
		"EVAL return(redis.call('flushall')) 0", "PUBLISH news x", "SUBSCRIBE news", "PSUBSCRIBE *", "REPLICAOF NO ONE",
		"SCRIPT FLUSH",
		"CLIENT KILL TYPE normal", "MONITOR", "INCR lock:a", "EXPIRE lock:a 1000000", "PERSIST lock:a",
		"RENAME lock:a lock:b",
	} {
		user := plainClient(t, &redis.Options{Addr: f.servers[0].Addr(), Username: "lockscope", Password: aclPassword})
		var args []any
		for _, field := range strings.Fields(c) {
			args = append(args, field)
		}
		if err := user.Do(t.Context(), args...).Err(); err == nil || !strings.Contains(err.Error(), "NOPERM") &&
			!strings.Contains(err.Error(), "ACL failure") && !strings.Contains(err.Error(), "can't run this command") {
			t.Errorf("%s: %v, want NOPERM", c, err)
		}
	}
}

// TestRealLeastPrivilegeIsLeast removes one grant after the other: each time something fails.
func TestRealLeastPrivilegeIsLeast(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	for _, grant := range strings.Fields(leastPrivilege) {
		if !strings.ContainsAny(grant[:1], "+~&") || grant == "+ping" { // +ping has TestRealLeastPrivilege
			continue
		}
		// A busy machine may not come to every command within the bound.
		needed := false
		for range 3 {
			needed = needed || isNeeded(t, f, grant)
		}
		if !needed {
			t.Errorf("%s is not needed", grant)
		}
	}
}

// isNeeded reports whether something fails, or is denied, without that grant.
func isNeeded(t *testing.T, f *realNodes, grant string) bool {
	t.Helper()
	for _, c := range f.admin {
		must(t, c.FlushAll(t.Context()).Err())
		must(t, c.ConfigResetStat(t.Context()).Err())
		must(t, c.ScriptFlush(t.Context()).Err())
	}
	f.vouchForAll()
	for _, c := range f.admin {
		runACL(t, c, strings.Replace(leastPrivilege, " "+grant, "", 1))
		must(t, c.Do(t.Context(), "ACL", "LOG", "RESET").Err())
	}
	denied := 0
	problem := tryEverything(t, f, 2*nodeTimeout, "lockscope", aclPassword)
	for _, c := range f.admin {
		log, err := c.ACLLog(t.Context(), 100).Result()
		must(t, err)
		denied += len(log)
	}
	return problem != nil || denied > 0
}

// outlastHeartbeat keeps a subscription of each user on the first node silent until it is probed. That node is one of a
// set, and grants nothing to a locker on it alone that has a guard.
func (f *realNodes) outlastHeartbeat(users ...string) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	holder := acquire(f.t, newLocker(f.t, f.clients()[:1], redlock.WithoutGuard()), "quiet", lock.TTL(longTTL))
	for _, user := range users {
		waiter := newLocker(f.t, f.clientsAs(user, aclPassword)[:1], redlock.WithoutGuard())
		waiting := acquireAsync(ctx, waiter, "quiet")
		defer func() { <-waiting }()
	}
	defer cancel()
	pings := func() string { return statsOf(f.admin[0].Info(ctx, "commandstats").Val(), "ping") }
	before := pings()
	eventually(f.t, 4*settleTime, "a silent subscription is probed", func() bool {
		log, err := f.admin[0].ACLLog(ctx, 100).Result()
		return pings() != before && err == nil && len(log) > 0
	})
	must(f.t, holder.Release(ctx))
}

// tryEverything makes the given user send every command of lockscope, except the probe of a silent subscription. It
// waits at most bound for each of the others to have its effect.
func tryEverything(t *testing.T, f *realNodes, bound time.Duration, user, password string) error {
	t.Helper()
	quarantine := redlock.WithRestartQuarantine(time.Minute)
	a := newLocker(t, f.clientsAs(user, password), quarantine, lock.WithPollInterval(nodeTimeout/4))
	b := newLocker(t, f.clientsAs(user, password), quarantine, lock.WithPollInterval(nodeTimeout/4))
	defer func() { must(t, errors.Join(a.Close(), b.Close())) }()
	ctx, cancel := context.WithTimeout(t.Context(), 4*bound)
	defer cancel()
	lease, err := a.Acquire(ctx, "job", lock.NoRenew(), lock.NoWait())
	if err != nil {
		return err
	}
	// Otherwise the node that a has not reached yet could grant b.
	for deadline := time.Now().Add(2 * nodeTimeout); len(f.keys("lock:job", f.all()...)) < len(f.servers) &&
		time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if _, err := b.Peek(ctx, "job"); err != nil {
		return err
	}
	waiting := acquireAsync(ctx, b, "job", lock.Fair(), lock.MaxWait(bound))
	giveUp, stop := context.WithCancel(ctx)
	leaving := acquireAsync(giveUp, newLocker(t, f.clientsAs(user, password), quarantine), "job")
	for deadline := time.Now().Add(bound / 2); f.queued("job") < 2 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	stop()
	<-leaving
	for deadline := time.Now().Add(bound / 4); f.queued("job") != 1 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	must(t, f.admin[1].Del(ctx, "lock:job").Err()) // for the extend to restore
	err = errors.Join(lease.Extend(ctx), lease.Release(ctx))
	g := <-waiting
	if g.err != nil {
		return errors.Join(err, g.err)
	}
	_, rerr := a.Revoke(ctx, "job", engine.RevokeRequest{By: "ops", Reason: "a test"})
	err = errors.Join(err, rerr, g.lease.Release(ctx))
	fair, ferr := a.Acquire(ctx, "job", lock.Fair(), lock.MaxWait(bound/2))
	if ferr != nil {
		return errors.Join(err, ferr)
	}
	return errors.Join(err, fair.Release(ctx), f.readAndWrite(ctx, a, b, bound))
}

// readAndWrite does the same with a read/write lock.
func (f *realNodes) readAndWrite(ctx context.Context, a, b *engine.Engine, bound time.Duration) error {
	as := func(k lock.Kind) lock.AcquireOption { return locktest.AsConstruct(k, 0) }
	reader, err := a.Acquire(ctx, "prices", as(lock.KindRead), lock.NoRenew(), lock.MaxWait(bound))
	if err != nil {
		return err
	}
	waiting := acquireAsync(ctx, b, "prices", as(lock.KindWrite), lock.MaxWait(bound))
	for deadline := time.Now().Add(bound / 2); f.queued("prices") < 1 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	err = reader.Extend(ctx)
	_, rerr := b.Revoke(ctx, "prices", engine.RevokeRequest{By: "ops", Reason: "a test", Readers: true})
	err = errors.Join(err, rerr, reader.Release(ctx))
	g := <-waiting
	if g.err != nil {
		return errors.Join(err, g.err)
	}
	return errors.Join(err, g.lease.Release(ctx))
}

// TestRealRefusedUser: the error comes at once, whatever MaxWait is, and does not show the password.
func TestRealRefusedUser(t *testing.T) {
	f := startNodes(t, 3)
	for _, c := range f.admin {
		runACL(t, c, leastPrivilege)
		runACL(t, c, "ACL SETUSER useless reset on >"+aclPassword+" ~lock:* ~lockscope:* +info +ping")
		runACL(t, c, strings.NewReplacer("SETUSER lockscope", "SETUSER halfway", " +set", "").Replace(leastPrivilege))
		runACL(t, c, "ACL SETUSER elsewhere reset on >"+aclPassword+" ~other:* ~lockscope:* &* +@all")
	}
	const wrong = "wrong-secret-password"
	for _, test := range []struct{ name, user, password, says, remedy string }{
		{"wrong password", "lockscope", wrong, "WRONGPASS", "correct the user and password"},
		{"wrong user", "nobody", wrong, "WRONGPASS", "correct the user and password"},
		{"no commands", "useless", aclPassword, "NOPERM", "lockscope doctor"},
		{"no such keys", "elsewhere", aclPassword, "NOPERM", "lockscope doctor"},
		{"no commands in scripts", "halfway", aclPassword, "script", "lockscope doctor"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLocker(t, f.clientsAs(test.user, test.password))
			ctx, cancel := context.WithTimeout(t.Context(), settleTime)
			defer cancel()
			began := time.Now()
			_, err := l.Acquire(ctx, "job")
			wantWithin(t, "being refused", time.Since(began), soon)
			wantErr(t, err, lock.ErrNoQuorum)
			wantText(t, err, test.says, test.remedy)
			for _, secret := range []string{wrong, aclPassword} {
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("the error shows the password: %v", err)
				}
			}
		})
	}
	f.wantNoLocks()
}

// TestRealInfoDenied: without INFO the guard cannot check a node, and its error says so and names the remedy.
func TestRealInfoDenied(t *testing.T) {
	f := startNodes(t, 3)
	for _, c := range f.admin {
		runACL(t, c, strings.Replace(leastPrivilege, " +info", "", 1))
	}
	clients := func() []redis.UniversalClient { return f.clientsAs("lockscope", aclPassword) }
	ctx, cancel := context.WithTimeout(t.Context(), settleTime)
	defer cancel()
	began := time.Now()
	_, err := newLocker(t, clients()).Acquire(ctx, "job")
	wantWithin(t, "being refused", time.Since(began), soon)
	wantErr(t, err, driver.ErrUnexamined, lock.ErrNoQuorum)
	wantText(t, err, "+info", "WithoutGuard", "127.0.0.1:")
	must(t, acquire(t, newLocker(t, clients(), redlock.WithoutGuard()), "job").Release(t.Context()))
	f.wantNoLocks()
}

// TestRealNoPassword: without credentials, the error asks for a password and does not blame a missing right.
func TestRealNoPassword(t *testing.T) {
	f := startNodes(t, 3)
	for _, c := range f.admin {
		must(t, c.ConfigSet(t.Context(), "requirepass", aclPassword).Err())
	}
	_, err := newLocker(t, f.clients(), lock.WithNodeTimeout(patience)).
		Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
	wantErr(t, err, lock.ErrNoQuorum, driver.ErrDenied)
	wantText(t, err, "NOAUTH")
	if err != nil && containsText(err, "+info") {
		t.Errorf("no right would help: %v", err)
	}
}
