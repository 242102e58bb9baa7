package migration

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestNodesRestoreNothingOfOthers: a lost key is put back only where nobody else has it, and not after its release.
func TestNodesRestoreNothingOfOthers(t *testing.T) {
	c := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	defer c.Close()
	ctx := t.Context()
	for name, form := range map[string]*form{"strings": stringForm(), "Redisson": redissonForm()} {
		t.Run(name, func(t *testing.T) {
			n := &node{name: "n", client: c, form: form}
			acquire := driver.AcquireRequest{Key: "k", Token: "ours", Holder: "us", TTL: time.Minute}
			extend := driver.ExtendRequest{Key: "k", Token: "ours", Holder: "us", TTL: time.Minute}
			want := func(reply driver.ExtendReply) {
				t.Helper()
				if got, err := n.Extend(ctx, extend); err != nil || got != reply {
					t.Errorf("Extend: %v, %v; want %v", got, err, reply)
				}
			}
			for range 2 { // the second time it is ours already
				reply, err := n.Acquire(ctx, acquire)
				if err != nil || !reply.Granted {
					t.Errorf("Acquire: %+v, %v", reply, err)
				}
			}
			want(driver.ExtendDone)
			must(t, c.Del(ctx, "k").Err())
			want(driver.ExtendGone)
			extend.Refill = true
			want(driver.ExtendRefilled)

			must(t, c.Del(ctx, "k").Err())
			theirs := acquire
			theirs.Token = "theirs"
			_, err := n.Acquire(ctx, theirs)
			must(t, err)
			want(driver.ExtendTaken)
			reply, err := n.Release(ctx, driver.ReleaseRequest{Key: "k", Token: "ours", Tombstone: time.Minute})
			if err != nil || reply.Found != driver.FoundOther {
				t.Errorf("Release of another's: %+v, %v", reply, err)
			}
			reply, err = n.Release(ctx, driver.ReleaseRequest{Key: "k", Token: "theirs"})
			if err != nil || reply.Found != driver.FoundOwn {
				t.Errorf("Release: %+v, %v", reply, err)
			}

			want(driver.ExtendGone) // there is a tombstone
			if _, err := n.Acquire(ctx, acquire); !errors.Is(err, driver.ErrTombstone) {
				t.Errorf("an Acquire after its release: %v", err)
			}
			if left, err := c.Exists(ctx, "k").Result(); left != 0 || err != nil {
				t.Errorf("a key is left, %v", err)
			}
			must(t, c.FlushAll(ctx).Err())
		})
	}
}
