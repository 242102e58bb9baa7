package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockscope/lockscope/lock"
)

const (
	account = "account:7"
	opening = 100 // balance
	ofA     = 30  // what A pays in
	ofB     = 50  // what B pays in

	leaseTTL = 400 * time.Millisecond
	// oversleep is how much longer than its lease A is stopped.
	oversleep = 100 * time.Millisecond
)

// story has two processes, A and B, that both pay into one account.
type story struct {
	out   io.Writer
	began time.Time
	store *Store
	a, b  lock.Locker

	late, later uint64 // the tokens of A's first lease, and of B's
}

func (s *story) say(who, format string, args ...any) {
	fmt.Fprintf(s.out, "%6d ms  %-2s %s\n", time.Since(s.began).Milliseconds(), who, fmt.Sprintf(format, args...))
}

func (s *story) tell(ctx context.Context) error {
	if err := s.store.Create(ctx, account, opening); err != nil {
		return err
	}
	stale, decided, err := s.stopHolder(ctx)
	if err != nil {
		return err
	}
	s.late = stale.Fence()
	if err := s.pay(ctx, "B", s.b, ofB); err != nil {
		return err
	}
	time.Sleep(oversleep)
	if err := s.wakeUp(ctx, stale, decided); err != nil {
		return err
	}
	if err := s.pay(ctx, "A", s.a, ofA); err != nil {
		return err
	}
	return s.conclude(ctx)
}

// stopHolder lets A acquire, read and decide, and then stops it until its lease
// is over. It returns the lease and the balance A is about to write.
func (s *story) stopHolder(ctx context.Context) (lock.Lease, int64, error) {
	// Without renewal the lease ends while A is stopped. In real life the stop (garbage
	// collection, a suspended VM, a long page fault) stops the renewal with it.
	lease, err := s.a.Acquire(ctx, account, lock.NoRenew(), lock.TTL(leaseTTL))
	if err != nil {
		return nil, 0, err
	}
	s.say("A", "acquires %s with fencing token %d, valid for %v", account, lease.Fence(),
		lease.Remaining().Round(time.Millisecond))
	row, err := s.store.Read(ctx, lease.Fence(), account)
	if err != nil {
		return nil, 0, err
	}
	decided := row.Balance + ofA
	s.say("A", "reads %d and decides to write %d", row.Balance, decided)
	s.say("A", "is stopped, in the middle of its work, for longer than its lease")
	<-lease.Context().Done()
	if ctx.Err() != nil {
		return nil, 0, errors.Join(ctx.Err(), lease.Release(context.WithoutCancel(ctx)))
	}
	s.say("", "A's lease ends (%v), but A is stopped and cannot see it", context.Cause(lease.Context()))
	return lease, decided, nil
}

// pay is how it should be: acquire, read, write.
func (s *story) pay(ctx context.Context, who string, locker lock.Locker, amount int64) error {
	return lock.Do(ctx, locker, account, func(ctx context.Context, lease lock.Lease) error {
		s.say(who, "acquires %s with fencing token %d, which is higher", account, lease.Fence())
		if who == "B" {
			s.later = lease.Fence()
		}
		row, err := s.store.Read(ctx, lease.Fence(), account)
		if err != nil {
			return err
		}
		if err := s.store.Update(ctx, lease.Fence(), account, row.Balance+amount); err != nil {
			return err
		}
		if err := s.store.UpdateUnfenced(ctx, account, row.Unfenced+amount); err != nil {
			return err
		}
		s.say(who, "reads %d, writes %d, releases", row.Balance, row.Balance+amount)
		return nil
	})
}

// wakeUp lets A go on as if nothing had happened.
func (s *story) wakeUp(ctx context.Context, lease lock.Lease, decided int64) error {
	s.say("A", "goes on where it was stopped, and writes %d", decided)
	before, err := s.store.Look(ctx, account)
	if err != nil {
		return err
	}
	if err := s.store.UpdateUnfenced(ctx, account, decided); err != nil {
		return err
	}
	s.say("", "without a check: accepted. %d becomes %d: what B paid in is LOST", before.Unfenced, decided)
	err = s.store.Update(ctx, lease.Fence(), account, decided)
	if !errors.Is(err, ErrStale) {
		return fmt.Errorf("a stale write was accepted: %v", err)
	}
	s.say("", "with the check:  REJECTED. %d stays, and what B paid in", before.Balance)
	s.say("", "  (%v)", err)
	if err := lease.Release(ctx); !errors.Is(err, lock.ErrNotHeld) {
		return fmt.Errorf("release of a lease that is over: %v", err)
	}
	s.say("A", "learns that it is too late, and begins anew")
	return nil
}

func (s *story) conclude(ctx context.Context) error {
	row, err := s.store.Look(ctx, account)
	if err != nil {
		return err
	}
	const right = opening + ofA + ofB
	fmt.Fprintf(s.out, "\n%d + %d + %d = %d    with fencing tokens: %d    without: %d\n",
		opening, ofB, ofA, right, row.Balance, row.Unfenced)
	if row.Balance != right {
		return fmt.Errorf("the balance is %d", row.Balance)
	}
	return nil
}
