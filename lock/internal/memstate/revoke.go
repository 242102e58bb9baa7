package memstate

import (
	"cmp"
	"slices"

	"github.com/lockscope/lockscope/lock/driver"
)

// grave is a tombstone. With a record it marks a grant as revoked.
type grave struct {
	expires int64 // ms
	record  string
}

// tombOf identifies the tombstone of a token.
func tombOf(key, token string) tomb { return tomb{key, driver.GrantOf(token)} }

// bury leaves a tombstone, in place of any mark.
func (s *Instant) bury(req driver.ReleaseRequest) {
	if req.Tombstone > 0 {
		s.tombs[tombOf(req.Key, req.Token)] = grave{expires: s.after(req.Tombstone)}
	}
}

// revoked reports that the grant is marked.
func (s *Instant) revoked(key, token string) error {
	if mark := s.MarkOf(key, token); mark != "" {
		return &driver.RevokedError{Record: mark}
	}
	return nil
}

// MarkOf returns the record with which the grant of a token is marked as revoked, "" if it is not.
func (s *State) MarkOf(key, token string) string { return s.tombs[tombOf(key, token)].record }

// Revoke is revoke.lua. It lists readers in the order of their tokens.
func (s *Instant) Revoke(req driver.RevokeRequest) driver.RevokeReply {
	var reply driver.RevokeReply
	if v, held := s.Locks[req.Key]; held {
		reply = driver.RevokeReply{Held: true, Grant: driver.GrantOf(v.Token), Counter: v.Counter, TTL: s.left(v.Expires),
			Holder: v.Holder}
	} else if until, read := s.readUntil(req.Key); read {
		reply = driver.RevokeReply{Held: true, ByReaders: true, TTL: s.left(until), Readers: s.revocable(req.Key)}
	}
	mark := func(grant string) string {
		at := tomb{req.Key, grant}
		record := cmp.Or(s.tombs[at].record, req.Record)
		s.tombs[at] = grave{expires: s.after(max(req.Keep, 2*reply.TTL)), record: record}
		return record
	}
	if req.Grant != "" {
		reply.Record = mark(req.Grant)
		return reply
	}
	for _, grant := range req.Readers {
		at := slices.IndexFunc(reply.Readers, func(r driver.RevokeReader) bool { return r.Grant == grant })
		if at < 0 {
			reply.Readers = append(reply.Readers, driver.RevokeReader{Grant: grant})
			at = len(reply.Readers) - 1
		}
		reply.Readers[at].Record = mark(grant)
	}
	return reply
}

func (s *Instant) revocable(key string) (readers []driver.RevokeReader) {
	for _, token := range s.Readers(key) {
		v := s.readers[key][token]
		readers = append(readers, driver.RevokeReader{Grant: driver.GrantOf(token), Held: true, Counter: v.Counter,
			TTL: s.left(v.Expires), Holder: v.Holder})
	}
	return readers
}
