package memstate

import "github.com/lockscope/lockscope/lock/driver"

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

// Revoke is revoke.lua.
func (s *Instant) Revoke(req driver.RevokeRequest) driver.RevokeReply {
	var reply driver.RevokeReply
	if v, held := s.Locks[req.Key]; held {
		reply = driver.RevokeReply{Held: true, Grant: driver.GrantOf(v.Token), Counter: v.Counter, TTL: s.left(v.Expires),
			Holder: v.Holder}
	} else if until, read := s.readUntil(req.Key); read {
		reply = driver.RevokeReply{Held: true, Shared: true, TTL: s.left(until)}
	}
	if req.Grant != "" {
		at := tomb{req.Key, req.Grant}
		if reply.Record = s.tombs[at].record; reply.Record == "" {
			reply.Record = req.Record
		}
		s.tombs[at] = grave{expires: s.after(max(req.Keep, 2*reply.TTL)), record: reply.Record}
	}
	return reply
}
