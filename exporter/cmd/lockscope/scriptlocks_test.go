package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

func lockVerbs() map[string]verb {
	return map[string]verb{"hold": holdLock, "queue": queueFor, "extend": extendLease, "release": releaseLease,
		"scene": setScene}
}

// engine is a process of a service with this name, which takes locks on some servers of Redis, or on one other system.
func (p *place) engine(ts *testscript.TestScript, servers, instance string) *engine.Engine {
	id := servers + " " + instance
	if p.engines[id] != nil {
		return p.engines[id]
	}
	switch s := p.systems[servers].(type) {
	case *pgproc.Server:
		p.engines[id] = cmdtest.PostgresLocker(p, s, instance)
	case *clientv3.Client:
		p.engines[id] = cmdtest.EtcdLocker(p, s, instance)
	case *ensemble:
		p.engines[id] = cmdtest.ZooKeeperLocker(p, s.Ensemble, instance)
	default:
		p.engines[id] = cmdtest.LockingProcess(p, instance, p.fleet(servers))
	}
	return p.engines[id]
}

// fleet is the servers A,B,C.
func (p *place) fleet(names string) (all []*redisproc.Server) {
	for name := range strings.SplitSeq(names, ",") {
		all = append(all, p.redis(name))
	}
	return all
}

// acquire takes a lock as INSTANCE: SERVERS INSTANCE RESOURCE [read|write|SLOTS]. A busy machine may let nodes miss their
// timeout.
func (p *place) acquire(ctx context.Context, ts *testscript.TestScript, args []string) (lock.Lease, error) {
	opts := []lock.AcquireOption{lock.TTL(time.Minute)}
	if _, is := p.systems[args[0]].(*ensemble); is { // whose sessions are shorter
		opts[0] = lock.TTL(10 * time.Second)
	}
	if len(args) > 3 {
		opts = append(opts, kinds[args[3]])
	}
	for {
		lease, err := p.engine(ts, args[0], args[1]).Acquire(ctx, args[2], opts...)
		if !errors.Is(err, lock.ErrNoQuorum) || ctx.Err() != nil {
			return lease, err
		}
	}
}

var kinds = map[string]lock.AcquireOption{
	"read": locktest.AsConstruct(lock.KindRead, 0), "write": locktest.AsConstruct(lock.KindWrite, 0),
	"2": lock.Slots(2), "3": lock.Slots(3),
}

// holdLock SERVERS INSTANCE RESOURCE [KIND] takes a lock and renews it until the script ends. The variable FENCE has its token.
func holdLock(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	p := of(ts)
	lease, err := p.acquire(p.Context(), ts, args)
	ts.Check(err)
	p.leases[args[1]+" "+args[2]] = lease
	p.Cleanup(func() { _ = lease.Release(context.Background()) })
	ts.Setenv("FENCE", fmt.Sprint(lease.Fence()))
	return cmdtest.Outcome{}
}

// queueFor SERVERS INSTANCE RESOURCE [KIND] [holding OTHER] waits for a lock until the script ends, with another of its locks
// in its hands.
func queueFor(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	p := of(ts)
	ctx := p.Context()
	if last := len(args) - 1; args[last-1] == "holding" {
		ctx = p.lease(args[1], args[last]).Context()
		args = args[:last-1]
	}
	ctx, giveUp := context.WithCancel(ctx)
	done := make(chan struct{})
	p.engine(ts, args[0], args[1]) // here, because it registers its end
	go func() { defer close(done); _, _ = p.acquire(ctx, ts, args) }()
	p.Cleanup(func() { giveUp(); <-done })
	return cmdtest.Outcome{}
}

func (p *place) lease(instance, resource string) lock.Lease {
	lease := p.leases[instance+" "+resource]
	if lease == nil {
		p.Fatalf("%s does not hold %s", instance, resource)
	}
	return lease
}

// extendLease INSTANCE RESOURCE has the status 1 if the lock is lost, and shows why.
func extendLease(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	lease := of(ts).lease(args[0], args[1])
	if err := lease.Extend(of(ts).Context()); err != nil {
		return cmdtest.Outcome{Status: 1, Err: fmt.Sprintf("%v; %v\n", err, context.Cause(lease.Context()))}
	}
	return cmdtest.Outcome{}
}

// releaseLease INSTANCE RESOURCE
func releaseLease(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	ts.Check(of(ts).lease(args[0], args[1]).Release(of(ts).Context()))
	return cmdtest.Outcome{}
}

// setScene constructs SERVERS, as cmdtest.Constructs has it.
func setScene(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	cmdtest.Constructs(of(ts), of(ts).fleet(args[1]))
	return cmdtest.Outcome{}
}
