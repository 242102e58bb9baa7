package locktest

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// queueTTL is how long a queue outlives the last waiter that came, as in package lock.
const queueTTL = 2 * time.Minute

// maxSkewSeconds bounds how far a client's clock may push a fence counter, as in acquire.lua.
const maxSkewSeconds = 10

// maxCounter is where fence counters end: beyond it Lua's numbers are not exact.
const maxCounter = 1<<53 - 1

// scripts runs what the Lua scripts of package lock do, line by line, on a state
// at one instant.
type scripts struct {
	*state
	nowUS   int64                                   // the server's TIME
	publish func(waiter, lockKey string) (ears int) // PUBLISH: how many listen

	readOnly bool          // a replica: every script of package lock writes, or might
	info     func() string // INFO
}

func (s *scripts) ms() int64 { return s.nowUS / 1000 }

func (s *scripts) after(d time.Duration) int64 { return s.ms() + millis(d) }

// left is PTTL.
func (s *scripts) left(expires int64) time.Duration {
	return time.Duration(max(expires-s.ms(), 0)) * time.Millisecond
}

// acquire is acquire.lua.
func (s *scripts) acquire(req lock.AcquireRequest) (lock.AcquireReply, error) {
	if !req.Waiter.Enqueue && req.Waiter.Ticket == 0 && !req.Fair {
		req.Waiter = lock.Waiter{} // package lock does not say who asks
	}
	keys, waiter := req.Keys, req.Waiter.ID
	if v, held := s.locks[keys.Lock]; held {
		if v.token == req.Token {
			return lock.AcquireReply{Granted: true, Counter: v.counter}, nil
		}
		return s.refuse(req, lock.AcquireReply{TTL: s.left(v.expires), Holder: v.holder}), nil
	}
	_, dead := s.tombs[keys.Tombstone(req.Token)]
	kept, reserved := s.next[keys.Next]
	switch {
	case dead:
		return lock.AcquireReply{}, lock.ErrTombstone
	case reserved && kept.waiter != waiter:
		return s.refuse(req, lock.AcquireReply{Reserved: true, TTL: s.left(kept.expires)}), nil
	case req.Fair && !reserved:
		if head := s.queue(keys.Queue).head(); head != "" && head != waiter {
			if named := s.nameNext(keys, req.Window); named != "" && named != waiter {
				return s.refuse(req, lock.AcquireReply{Reserved: true, TTL: req.Window}), nil
			}
		}
	}
	last := s.counters[keys.Fence]
	if last >= maxCounter {
		return lock.AcquireReply{}, lock.ErrFenceCounter
	}
	seconds := s.nowUS / 1e6
	least, most := uint64(seconds-maxSkewSeconds)*1e6, uint64(seconds+maxSkewSeconds)*1e6
	counter := max(last+1, least, min(req.Floor, most))
	s.counters[keys.Fence] = counter
	s.locks[keys.Lock] = value{token: req.Token, counter: counter, holder: req.Holder, expires: s.after(req.TTL)}
	delete(s.next, keys.Next)
	if req.Waiter.Enqueue && req.Waiter.Ticket != 0 {
		delete(s.queue(keys.Queue).tickets, waiter)
	}
	return lock.AcquireReply{Granted: true, Counter: counter}, nil
}

// refuse queues the caller, if it wants to be.
func (s *scripts) refuse(req lock.AcquireRequest, reply lock.AcquireReply) lock.AcquireReply {
	if req.Waiter.ID == "" || !req.Waiter.Enqueue {
		return reply
	}
	q := s.queue(req.Keys.Queue)
	if _, queued := q.tickets[req.Waiter.ID]; !queued {
		q.tickets[req.Waiter.ID] = s.ticket(req.Waiter)
	}
	q.expires = s.after(queueTTL)
	reply.Ticket, reply.Ahead = q.tickets[req.Waiter.ID], q.rank(req.Waiter.ID)
	return reply
}

func (s *scripts) ticket(w lock.Waiter) int64 {
	if w.Ticket == 0 {
		return s.nowUS
	}
	return w.Ticket
}

// nameNext is handoff.lua; it returns "" if nobody was named.
func (s *scripts) nameNext(keys lock.Keys, window time.Duration) string {
	for range 64 {
		head := s.queue(keys.Queue).pop()
		if head == "" {
			return ""
		}
		if s.publish(head, keys.Lock) > 0 {
			s.next[keys.Next] = reservation{waiter: head, expires: s.after(window)}
			return head
		}
	}
	return ""
}

// raise is raise.lua.
func (s *scripts) raise(req lock.RaiseRequest) bool {
	v, held := s.locks[req.Keys.Lock]
	if !held || v.token != req.Token || v.counter != req.Counter {
		return false
	}
	s.counters[req.Keys.Fence] = max(s.counters[req.Keys.Fence], req.Fence)
	return true
}

// extend is extend.lua.
func (s *scripts) extend(req lock.ExtendRequest) lock.Extension {
	tomb := req.Keys.Tombstone(req.Token)
	if v, held := s.locks[req.Keys.Lock]; held {
		if v.token != req.Token {
			return lock.ExtendTaken
		}
		v.expires = s.after(req.TTL)
		s.locks[req.Keys.Lock] = v
		return lock.Extended
	}
	if _, dead := s.tombs[tomb]; dead || !req.Refill {
		return lock.ExtendGone
	}
	s.counters[req.Keys.Fence] = max(s.counters[req.Keys.Fence], req.Fence)
	s.locks[req.Keys.Lock] = value{token: req.Token, counter: req.Fence, holder: req.Holder, expires: s.after(req.TTL)}
	return lock.ExtendRefilled
}

// release is release.lua.
func (s *scripts) release(req lock.ReleaseRequest) lock.ReleaseReply {
	keys, reply := req.Keys, lock.ReleaseReply{Outcome: lock.Expired}
	if v, held := s.locks[keys.Lock]; held {
		reply.Outcome = lock.NotOwner
		if v.token == req.Token {
			reply.Outcome = lock.Released
			delete(s.locks, keys.Lock)
		}
	}
	if req.Tombstone > 0 {
		s.tombs[keys.Tombstone(req.Token)] = s.after(req.Tombstone)
	}
	if req.Waiter.ID != "" {
		q := s.queue(keys.Queue)
		if _, queued := q.tickets[req.Waiter.ID]; !queued {
			q.tickets[req.Waiter.ID] = s.ticket(req.Waiter)
		}
		q.expires = s.after(queueTTL)
	}
	if _, reserved := s.next[keys.Next]; req.Handoff > 0 && !reserved {
		reply.Named = s.nameNext(keys, req.Handoff) != ""
	}
	return reply
}

// leave is leave.lua.
func (s *scripts) leave(req lock.LeaveRequest) {
	delete(s.queue(req.Keys.Queue).tickets, req.WaiterID)
	if kept, reserved := s.next[req.Keys.Next]; !reserved || kept.waiter != req.WaiterID {
		return
	}
	delete(s.next, req.Keys.Next)
	if _, held := s.locks[req.Keys.Lock]; !held {
		s.nameNext(req.Keys, req.Handoff)
	}
}

// millis rounds up, as package lock does.
func millis(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

func (v value) String() string { return fmt.Sprintf("%.6s:%d until %d", v.token, v.counter, v.expires) }
