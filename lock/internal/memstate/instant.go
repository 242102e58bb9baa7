package memstate

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// queueTTL is how long a queue outlives the last waiter that came, as in package redlock.
const queueTTL = 2 * time.Minute

// entryTTL is how long a waiter's record is kept.
const entryTTL = 30 * time.Second

// maxSkewSeconds bounds how far a client's clock may push a fence counter, as in acquire.lua.
const maxSkewSeconds = 10

// maxCounter is where fence counters end: beyond it Lua's numbers are not exact.
const maxCounter = 1<<53 - 1

// done ends the record of a holder whose lock is kept for the rest of its minimum hold.
const done = "|done|"

// Instant runs commands on a state at one instant.
type Instant struct {
	*State
	NowUS   int64                               // the server's TIME in microseconds
	Publish func(waiter, key string) (ears int) // notifies a waiter that it was named; returns how many listen
}

// At drops what has expired by nowUS, and returns that instant of the server.
func (s *State) At(nowUS int64, publish func(waiter, key string) (ears int)) *Instant {
	s.Expire(nowUS / 1000)
	return &Instant{State: s, NowUS: nowUS, Publish: publish}
}

func (s *Instant) ms() int64 { return s.NowUS / 1000 }

func (s *Instant) after(d time.Duration) int64 { return s.ms() + millis(d) }

// left is PTTL.
func (s *Instant) left(expires int64) time.Duration {
	return time.Duration(max(expires-s.ms(), 0)) * time.Millisecond
}

// Acquire is acquire.lua.
func (s *Instant) Acquire(req driver.AcquireRequest) (driver.AcquireReply, error) {
	if req.Mode != driver.Exclusive {
		return s.acquireShared(req)
	}
	known, same := s.compareSlots(req.Semaphore)
	if !same {
		return driver.AcquireReply{Slots: known}, nil
	}
	reply, err := s.acquire(req)
	reply.Slots = known
	return reply, err
}

func (s *Instant) acquire(req driver.AcquireRequest) (driver.AcquireReply, error) {
	if !req.Waiter.Enqueue && req.Waiter.Ticket == 0 && !req.Fair {
		req.Waiter = driver.Waiter{} // redlock does not send the waiter
	}
	key, waiter := req.Key, req.Waiter.ID
	if v, held := s.Locks[key]; held {
		if v.Token == req.Token {
			return driver.AcquireReply{Granted: true, Counter: v.Counter, Run: 1}, nil
		}
		return s.refuse(req, driver.AcquireReply{TTL: s.left(v.Expires), Holder: v.Holder}), nil
	}
	kept, reserved := s.next[key]
	switch {
	case s.gaveUp(&req):
		return driver.AcquireReply{}, driver.ErrTombstone
	case reserved && kept.waiter != waiter:
		return s.refuse(req, driver.AcquireReply{Reserved: true, TTL: s.left(kept.expires)}), nil
	case req.Fair && !reserved:
		if head := s.queue(line(key, req.Semaphore)).head(); head != "" && head != waiter {
			if named := s.nameNext(key, line(key, req.Semaphore), req.Window, ""); named != "" && named != waiter {
				return s.refuse(req, driver.AcquireReply{Reserved: true, TTL: req.Window}), nil
			}
		}
	}
	last := s.Counters[key]
	if last >= maxCounter {
		return driver.AcquireReply{}, driver.ErrFenceCounter
	}
	seconds := s.NowUS / 1e6
	least, most := uint64(seconds-maxSkewSeconds)*1e6, uint64(seconds+maxSkewSeconds)*1e6
	counter := max(last+1, least, min(req.Floor, most))
	run := max(req.Run, 1)
	if run > 1 && counter > uint64(s.NowUS+1e6) {
		run = 1 // runs must not outpace the clock
	}
	s.Counters[key] = counter + run - 1
	if until, read := s.readUntil(key); read {
		return s.refuse(req, driver.AcquireReply{TTL: s.left(until)}), nil
	}
	s.Locks[key] = Lock{Token: req.Token, Counter: counter, Holder: req.Holder, Expires: s.after(req.TTL)}
	delete(s.next, key)
	if req.Waiter.Enqueue && req.Waiter.Ticket != 0 {
		queue := line(key, req.Semaphore)
		delete(s.queue(queue).tickets, waiter)
		if req.Waiter.Record != "" {
			delete(s.saying, stay{queue, waiter})
		}
	}
	return driver.AcquireReply{Granted: true, Counter: counter, Run: run}, nil
}

// refuse queues the caller if it asks for that.
func (s *Instant) refuse(req driver.AcquireRequest, reply driver.AcquireReply) driver.AcquireReply {
	if req.Waiter.ID != "" && req.Waiter.Enqueue && !s.gaveUp(&req) {
		q := s.join(line(req.Key, req.Semaphore), req.Waiter)
		reply.Ticket, reply.Ahead = q.tickets[req.Waiter.ID], q.rank(req.Waiter.ID)
	}
	if of := req.Semaphore; of != nil && of.OneQueue && of.Any {
		reply.Free = s.offer(of, req.Waiter.ID, req.Window)
	}
	return reply
}

// gaveUp reports that the call has ended: its attempt's tombstone was here first.
func (s *Instant) gaveUp(req *driver.AcquireRequest) bool {
	_, dead := s.tombs[tombOf(req.Key, req.Token)]
	return dead
}

// join gives a waiter its place in the queue, or finds it there.
func (s *Instant) join(key string, w driver.Waiter) *queue {
	q := s.queue(key)
	if _, queued := q.tickets[w.ID]; !queued {
		q.tickets[w.ID] = s.ticket(w)
	}
	q.expires = s.after(queueTTL)
	if w.Record != "" {
		s.saying[stay{key, w.ID}] = entry{fmt.Sprintf("%d\n%s", q.tickets[w.ID], w.Record), s.after(entryTTL)}
	}
	return q
}

func (s *Instant) ticket(w driver.Waiter) int64 {
	if w.Ticket == 0 {
		return s.NowUS
	}
	return w.Ticket
}

// nameNext is handoff.lua; it returns "" if nobody was named. The caller is not notified.
func (s *Instant) nameNext(key, queue string, window time.Duration, caller string) string {
	for range 64 {
		head := s.queue(queue).pop()
		if head == "" {
			return ""
		}
		if head == caller || s.Publish(head, key) > 0 {
			s.next[key] = reservation{waiter: head, expires: s.after(window)}
			return head
		}
	}
	return ""
}

// Raise is raise.lua.
func (s *Instant) Raise(req driver.RaiseRequest) bool {
	v, held := s.Locks[req.Key]
	if req.Mode == driver.Read {
		v, held = s.readers[req.Key][req.Token]
	}
	if !held || v.Token != req.Token || v.Counter != req.Counter {
		return false
	}
	s.Counters[req.Key] = max(s.Counters[req.Key], req.Fence)
	return true
}

// Extend is extend.lua, on a server that votes for the caller or does not. It fails with a *driver.RevokedError if the
// grant is marked.
func (s *Instant) Extend(req driver.ExtendRequest, votes bool) (driver.ExtendReply, error) {
	if req.Mode != driver.Read && !s.hasSlot(req.Semaphore, votes) {
		return driver.ExtendNoSlot, nil
	}
	if err := s.revoked(req.Key, req.Token); err != nil {
		return driver.ExtendGone, err
	}
	if req.Mode == driver.Read {
		return s.extendReader(req, votes), nil
	}
	return s.extend(req, votes), nil
}

func (s *Instant) extend(req driver.ExtendRequest, votes bool) driver.ExtendReply {
	if v, held := s.Locks[req.Key]; held {
		if v.Token != req.Token || strings.HasSuffix(v.Holder, done) && !strings.HasSuffix(req.Holder, done) {
			return driver.ExtendTaken
		}
		v.Expires = s.after(req.TTL)
		if req.Rename {
			v.Holder = req.Holder
		}
		s.Locks[req.Key] = v
		return driver.ExtendDone
	}
	if _, read := s.readUntil(req.Key); read {
		return driver.ExtendTaken
	}
	if _, dead := s.tombs[tombOf(req.Key, req.Token)]; dead || !req.Refill || !votes {
		return driver.ExtendGone
	}
	s.Counters[req.Key] = max(s.Counters[req.Key], req.Fence, req.Last)
	s.Locks[req.Key] = Lock{Token: req.Token, Counter: req.Fence, Holder: req.Holder, Expires: s.after(req.TTL)}
	return driver.ExtendRefilled
}

// Release is release.lua.
func (s *Instant) Release(req driver.ReleaseRequest) driver.ReleaseReply {
	if req.Mode != driver.Exclusive {
		return s.releaseShared(req)
	}
	key, reply := req.Key, driver.ReleaseReply{Found: driver.FoundNothing}
	if v, held := s.Locks[key]; held {
		reply.Found = driver.FoundOther
		if v.Token == req.Token {
			reply.Found = driver.FoundOwn
			delete(s.Locks, key)
		}
	} else if _, read := s.readUntil(key); read {
		reply.Found = driver.FoundOther
	}
	s.bury(req)
	if req.Waiter.ID != "" {
		s.join(line(key, req.Semaphore), req.Waiter)
	}
	early, reserved := s.next[key]
	if q := s.queue(line(key, req.Semaphore)); reserved && reply.Found == driver.FoundOwn && req.Handoff > 0 &&
		len(q.tickets) > 0 {
		delete(s.next, key)
		q.tickets[early.waiter], reserved = 0, false
	}
	if req.Handoff > 0 && !reserved {
		reply.Named = s.nameNext(key, line(key, req.Semaphore), req.Handoff, "") != ""
	}
	return reply
}

// Peek is peek.lua.
func (s *Instant) Peek(req driver.PeekRequest) driver.PeekReply {
	v, held := s.Locks[req.Key]
	if !held {
		if until, read := s.readUntil(req.Key); read {
			return driver.PeekReply{Held: true, TTL: s.left(until)}
		}
		return driver.PeekReply{}
	}
	return driver.PeekReply{Held: true, Counter: v.Counter, TTL: s.left(v.Expires), Holder: v.Holder}
}

// Leave is leave.lua.
func (s *Instant) Leave(req driver.LeaveRequest) {
	if req.Mode != driver.Exclusive {
		s.leaveShared(req)
		return
	}
	if of := req.Semaphore; of != nil && of.OneQueue {
		s.leaveSlots(req)
		return
	}
	delete(s.queue(req.Key).tickets, req.WaiterID)
	delete(s.saying, stay{req.Key, req.WaiterID})
	if kept, reserved := s.next[req.Key]; !reserved || kept.waiter != req.WaiterID {
		return
	}
	delete(s.next, req.Key)
	if _, held := s.Locks[req.Key]; !held && len(s.readers[req.Key]) == 0 {
		s.nameNext(req.Key, req.Key, req.Handoff, "")
	}
}

// millis rounds up, as package redlock does.
func millis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

func (v Lock) String() string { return fmt.Sprintf("%.6s:%d until %d", v.Token, v.Counter, v.Expires) }
