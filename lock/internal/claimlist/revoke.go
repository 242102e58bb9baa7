package claimlist

import (
	"slices"

	"github.com/lockscope/lockscope/lock/driver"
)

// RevokedReaders is the reply about the readers that were found to hold a lock. A reader that the request names and that
// was not found has released the lock: it counts as marked, since its claim never comes back. A reader without a grant, of
// a library that looks for no mark, holds the lock and is not listed.
func RevokedReaders(found []driver.RevokeReader, req driver.RevokeRequest) (reply driver.RevokeReply) {
	for _, r := range found {
		if !r.Held {
			continue
		}
		if !reply.Held || r.TTL < 0 || reply.TTL >= 0 && r.TTL > reply.TTL {
			reply.TTL = r.TTL
		}
		reply.Held, reply.Shared = true, true
		if r.Grant != "" {
			reply.Readers = append(reply.Readers, r)
		}
	}
	for _, grant := range req.Readers {
		if !slices.ContainsFunc(reply.Readers, func(r driver.RevokeReader) bool { return r.Grant == grant }) {
			reply.Readers = append(reply.Readers, driver.RevokeReader{Grant: grant, Record: req.Record})
		}
	}
	return reply
}
