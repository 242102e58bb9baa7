package main

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// autoPipelinePeer is the commands of goRedisPeer, of all callers in the same pipelines, in order on each node.
func autoPipelinePeer() peer { return pipelined("AutoPipeline", "") }

// setAndCount is the least that grants a fence. KEYS 1 lock 2 counter; ARGV 1 token 2 ttl ms; replies 0 if it is held.
const setAndCount = `if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2])
end
return 0`

// fencedPeer is the floor of many callers: the same with a fence, which takes a script.
func fencedPeer() peer { return pipelined("fenced", setAndCount) }

// pipelined acquires with a script, or with SET if there is none.
func pipelined(name, script string) peer {
	return peer{
		name: name,
		can:  func(w work) bool { return !w.contended },
		open: func(ctx context.Context, addrs []string) (locker, error) {
			l := &autoPipelineLocker{clients: newClients(addrs), unlock: redis.NewScript(compareAndDelete)}
			if script != "" {
				l.lock = redis.NewScript(script)
			}
			for _, c := range l.clients {
				pipe, err := c.AsyncAutoPipeline()
				if err == nil && l.lock != nil {
					err = l.lock.Load(ctx, c).Err()
				}
				if err == nil {
					err = l.unlock.Load(ctx, c).Err()
				}
				if err != nil {
					return nil, errors.Join(err, l.Close())
				}
				l.pipes = append(l.pipes, pipe)
			}
			return l, nil
		},
	}
}

type autoPipelineLocker struct {
	clients // their pipelines end with them
	pipes   []*redis.AutoPipeliner
	lock    *redis.Script // grants a fence; nil for SET
	unlock  *redis.Script
}

func (l *autoPipelineLocker) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	token := newToken()
	release := func(ctx context.Context) error {
		return l.onQuorum(ctx, errNotHeld, func(p *redis.AutoPipeliner) answer {
			cmd := redis.NewCmd(ctx, "evalsha", l.unlock.Hash(), 1, resource, token)
			return answer{p.Submit(ctx, cmd), func() bool { return cmd.Val() == int64(1) }}
		})
	}
	err := l.onQuorum(ctx, errHeld, func(p *redis.AutoPipeliner) answer {
		if l.lock != nil {
			cmd := redis.NewCmd(ctx, "evalsha", l.lock.Hash(), 2, resource, "fence:"+resource, token, ttl.Milliseconds())
			return answer{p.Submit(ctx, cmd), func() bool { fence, err := cmd.Int64(); return err == nil && fence > 0 }}
		}
		cmd := redis.NewBoolCmd(ctx, "set", resource, token, "px", ttl.Milliseconds(), "nx")
		return answer{p.Submit(ctx, cmd), cmd.Val}
	})
	if err != nil {
		_ = release(context.WithoutCancel(ctx)) // what a minority granted; it also ends by itself
		return nil, err
	}
	return release, nil
}

// answer is one node's, still to come.
type answer struct {
	redis.AutoFuture
	yes func() bool // once there is one
}

// onQuorum hands a command to every node and waits for them in turn, until a quorum has
// said yes: a floor that needs no goroutines.
func (l *autoPipelineLocker) onQuorum(ctx context.Context, no error, submit func(*redis.AutoPipeliner) answer) error {
	answers := make([]answer, 0, len(l.pipes))
	for _, p := range l.pipes {
		answers = append(answers, submit(p))
	}
	quorum := len(answers)/2 + 1
	var failed []error
	for _, a := range answers {
		err := a.WaitContext(ctx)
		if err == nil && !a.yes() {
			err = no
		}
		if err != nil {
			failed = append(failed, err)
		} else if quorum--; quorum == 0 {
			return nil
		}
	}
	return errors.Join(failed...)
}
