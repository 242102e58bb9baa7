package memstate

import (
	"maps"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// bar keeps readers that came after its writer from the lock.
type bar struct {
	ticket  int64
	expires int64 // ms
}

// maxBarMS is where a bar ends too late to be one, as in rwshared.lua.
const maxBarMS = 24 * 60 * 60 * 1000

// keptForReaders is the waiter for whom a lock is kept that all readers may take. It is no waiter's ID.
const keptForReaders = "r"

func (s *State) expireShared(nowMS int64) {
	for key, all := range s.readers {
		maps.DeleteFunc(all, func(_ string, v Lock) bool { return nowMS > v.Expires })
		if len(all) == 0 {
			delete(s.readers, key)
		}
	}
	maps.DeleteFunc(s.bars, func(_ stay, b bar) bool { return nowMS > b.expires || b.expires > nowMS+maxBarMS })
}

// Readers returns the tokens of the readers of a key, in order.
func (s *State) Readers(key string) []string { return slices.Sorted(maps.Keys(s.readers[key])) }

// Bars returns the number of writers that keep later readers out.
func (s *State) Bars() int { return len(s.bars) }

// readUntil is when the last reader of a key expires, if there is one.
func (s *State) readUntil(key string) (ms int64, read bool) {
	for _, v := range s.readers[key] {
		ms = max(ms, v.Expires)
	}
	return ms, len(s.readers[key]) > 0
}

// reader is the holder record of one reader, the same on all nodes that have the same readers.
func (s *State) reader(key string) string {
	return s.readers[key][s.Readers(key)[0]].Holder
}

// acquireShared is rwacquire.lua.
func (s *Instant) acquireShared(req driver.AcquireRequest) (driver.AcquireReply, error) {
	key, waiter := req.Key, req.Waiter.ID
	if v, held := s.Locks[key]; held {
		if req.Mode == driver.Write && v.Token == req.Token {
			return driver.AcquireReply{Granted: true, Counter: v.Counter, Run: 1}, nil
		}
		return s.refuseShared(req, driver.AcquireReply{TTL: s.left(v.Expires), Holder: v.Holder}), nil
	}
	if v, held := s.readers[key][req.Token]; held && req.Mode == driver.Read {
		return driver.AcquireReply{Granted: true, Counter: v.Counter, Run: 1}, nil
	}
	if _, dead := s.tombs[tombOf(key, req.Token)]; dead {
		return driver.AcquireReply{}, driver.ErrTombstone
	}
	if until, read := s.readUntil(key); read && req.Mode == driver.Write {
		return s.refuseShared(req, driver.AcquireReply{TTL: s.left(until), Holder: s.reader(key)}), nil
	}
	if kept, reserved := s.next[key]; reserved && kept.waiter != waiter &&
		(req.Mode == driver.Write || kept.waiter != keptForReaders) {
		return s.refuseShared(req, driver.AcquireReply{Reserved: true, TTL: s.left(kept.expires)}), nil
	}
	if until, barred := s.barred(req); barred {
		return s.refuseShared(req, driver.AcquireReply{Reserved: true, TTL: s.left(until)}), nil
	}
	return s.grantShared(req)
}

// barred says until when the node refuses a reader that came after a writer which waits, or a writer that may not
// overtake the queue.
func (s *Instant) barred(req driver.AcquireRequest) (until int64, barred bool) {
	if req.Mode == driver.Write {
		if _, reserved := s.next[req.Key]; !req.Fair || reserved {
			return 0, false
		}
		head := s.queue(req.Key).head()
		if head == "" || head == req.Waiter.ID || !s.nameShared(req.Key, req.Window) {
			return 0, false
		}
		return s.after(req.Window), s.next[req.Key].waiter != req.Waiter.ID
	}
	for at, b := range s.bars {
		if at.key == req.Key && (req.Waiter.Ticket == 0 || b.ticket < req.Waiter.Ticket) {
			until, barred = max(until, b.expires), true
		}
	}
	return until, barred
}

func (s *Instant) grantShared(req driver.AcquireRequest) (driver.AcquireReply, error) {
	key := req.Key
	last, counted := s.Counters[key]
	if last >= maxCounter {
		return driver.AcquireReply{}, driver.ErrFenceCounter
	}
	counter := last
	if req.Mode == driver.Write || !counted {
		seconds := s.NowUS / 1e6
		least, most := uint64(seconds-maxSkewSeconds)*1e6, uint64(seconds+maxSkewSeconds)*1e6
		counter = max(last+1, least, min(req.Floor, most))
		s.Counters[key] = counter
	}
	v := Lock{Token: req.Token, Counter: counter, Holder: req.Holder, Expires: s.after(req.TTL)}
	if req.Mode == driver.Write {
		s.Locks[key] = v
	} else {
		s.addReader(key, v)
	}
	delete(s.next, key)
	if req.Waiter.Enqueue {
		delete(s.queue(key).tickets, req.Waiter.ID)
		delete(s.saying, stay{key, req.Waiter.ID})
	}
	return driver.AcquireReply{Granted: true, Counter: counter, Run: 1}, nil
}

func (s *Instant) addReader(key string, v Lock) {
	if s.readers[key] == nil {
		s.readers[key] = make(map[string]Lock)
	}
	s.readers[key][v.Token] = v
}

// refuseShared queues the caller if it asks for that, and sets up its bar.
func (s *Instant) refuseShared(req driver.AcquireRequest, reply driver.AcquireReply) driver.AcquireReply {
	reply = s.refuse(req, reply)
	if req.Mode != driver.Write || req.Bar <= 0 || req.Waiter.ID == "" || s.gaveUp(&req) {
		return reply
	}
	at := stay{req.Key, req.Waiter.ID}
	b, stands := s.bars[at]
	switch {
	case req.Waiter.Ticket != 0:
		b.ticket = req.Waiter.Ticket
	case reply.Ticket != 0:
		b.ticket = reply.Ticket
	case !stands:
		b.ticket = s.NowUS
	}
	b.expires = s.after(req.Bar)
	s.bars[at] = b
	return reply
}

// nameShared is name_group of rwshared.lua: it names one writer if there is no reader, or all readers in front. It
// reports whether it named anybody.
func (s *Instant) nameShared(key string, window time.Duration) (named bool) {
	_, read := s.readUntil(key)
	for range 64 {
		head := s.queue(key).head()
		_, writes := s.bars[stay{key, head}]
		if head == "" || writes && (read || named) {
			break
		}
		s.queue(key).pop()
		heard := s.Publish(head, key) > 0
		switch {
		case heard && writes:
			s.next[key] = reservation{waiter: head, expires: s.after(window)}
			return true
		case heard:
			named = true
		case writes:
			delete(s.bars, stay{key, head})
		}
	}
	if named && !read {
		s.next[key] = reservation{waiter: keptForReaders, expires: s.after(window)}
	}
	return named
}

// extendReader is rwextend.lua.
func (s *Instant) extendReader(req driver.ExtendRequest, votes bool) driver.ExtendReply {
	key := req.Key
	if v, held := s.readers[key][req.Token]; held {
		v.Expires = s.after(req.TTL)
		s.readers[key][req.Token] = v
		return driver.ExtendDone
	}
	if _, held := s.Locks[key]; held {
		return driver.ExtendTaken
	}
	_, dead := s.tombs[tombOf(key, req.Token)]
	_, reserved := s.next[key]
	if dead || reserved || !req.Refill || !votes || s.hasBar(key) {
		return driver.ExtendGone
	}
	s.Counters[key] = max(s.Counters[key], req.Fence, req.Last)
	s.addReader(key, Lock{Token: req.Token, Counter: req.Fence, Holder: req.Holder, Expires: s.after(req.TTL)})
	return driver.ExtendRefilled
}

func (s *State) hasBar(key string) bool {
	for at := range s.bars {
		if at.key == key {
			return true
		}
	}
	return false
}

// releaseShared is rwrelease.lua.
func (s *Instant) releaseShared(req driver.ReleaseRequest) driver.ReleaseReply {
	key, reply := req.Key, driver.ReleaseReply{Found: driver.FoundNothing}
	own, held := s.Locks[key]
	_, read := s.readers[key][req.Token]
	switch {
	case read && req.Mode == driver.Read:
		reply.Found = driver.FoundOwn
		if delete(s.readers[key], req.Token); len(s.readers[key]) == 0 {
			delete(s.readers, key)
		}
	case held && own.Token == req.Token && req.Mode == driver.Write:
		reply.Found = driver.FoundOwn
		delete(s.Locks, key)
	case held, req.Mode == driver.Write && len(s.readers[key]) > 0:
		reply.Found = driver.FoundOther
	}
	s.bury(req)
	if req.Waiter.ID != "" {
		s.join(key, req.Waiter)
	}
	if _, reserved := s.next[key]; req.Handoff > 0 && !reserved {
		reply.Named = s.nameShared(key, req.Handoff)
	}
	return reply
}

// leaveShared is rwleave.lua.
func (s *Instant) leaveShared(req driver.LeaveRequest) {
	at := stay{req.Key, req.WaiterID}
	_, barred := s.bars[at]
	delete(s.bars, at)
	delete(s.queue(req.Key).tickets, req.WaiterID)
	delete(s.saying, at)
	kept, reserved := s.next[req.Key]
	mine := reserved && kept.waiter == req.WaiterID
	if mine {
		delete(s.next, req.Key)
	}
	if _, held := s.Locks[req.Key]; !held && (mine || barred && !reserved) {
		s.nameShared(req.Key, req.Handoff)
	}
}
