package scripts

import (
	_ "embed" // the script
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

//go:embed revoke.lua
var revokeLua string

// RevokeArgs are the arguments of revoke.lua but the last: the marker that the connection expects.
func (s *Set) RevokeArgs(req *driver.RevokeRequest, at Place) []any {
	k, grants, record := s.keys.of(req.Key), marked(req), req.Record
	names := []any{k.args.lock}
	for _, grant := range grants {
		names = append(names, k.tombstoneOf(grant))
	}
	if len(grants) == 0 {
		names, record = append(names, "lockscope:peek:{"+k.lock+"}"), ""
	}
	return append(at.appendKeys([]any{"evalsha", s.Revoke.Arg()}, names...), record, millis(req.Keep), len(grants))
}

// marked are the grants that a request marks, in the order of their tombstones.
func marked(req *driver.RevokeRequest) []string {
	if req.Grant != "" {
		return []string{req.Grant}
	}
	return req.Readers
}

// Revoked reads the reply of revoke.lua to a request.
func Revoked(g *guard.Guard, req *driver.RevokeRequest, val any) (driver.RevokeReply, error) {
	reply, err := parseRevoke(req, val)
	if other, ok := errors.AsType[unprovenError](err); ok {
		err = g.Unread(other.marker)
	}
	return reply, err
}

// parseRevoke accepts anything a server or a proxy may send and never panics.
func parseRevoke(req *driver.RevokeRequest, val any) (driver.RevokeReply, error) {
	fields, _ := val.([]any)
	if len(fields) < 2 {
		return driver.RevokeReply{}, fmt.Errorf("%w: revoke replied a %T", driver.ErrBadReply, val)
	}
	code, ok1 := fields[0].(int64)
	if marker, ok := fields[1].(string); ok && ok1 && code == 5 {
		return driver.RevokeReply{}, unprovenError{marker}
	}
	stands, ok2 := parseRecords(req, fields[1])
	reply := driver.RevokeReply{Held: code != 0, ByReaders: code == 2}
	pttl, ok3 := int64(0), true
	if len(fields) > 2 {
		pttl, ok3 = fields[2].(int64)
	}
	reply.TTL = time.Duration(min(max(pttl, -1), maxPTTL)) * time.Millisecond
	if len(fields) != map[int64]int{0: 2, 1: 6, 2: 4, 3: 3}[code] || !ok1 || !ok2 || !ok3 {
		return driver.RevokeReply{}, fmt.Errorf("%w: revoke replied code %v with %d fields", driver.ErrBadReply, code,
			len(fields))
	}
	var err error
	switch code {
	case 1:
		reply, err = parseGrantHeld(reply, fields[3:])
	case 2:
		reply.Readers, err = parseReaders(fields[3])
	}
	if err != nil {
		return driver.RevokeReply{}, err
	}
	return withMarks(reply, req, stands), nil
}

// parseRecords reads the records of the marks that a request has made: one for each.
func parseRecords(req *driver.RevokeRequest, val any) (records []string, ok bool) {
	fields, ok := val.([]any)
	if !ok || len(fields) != len(marked(req)) {
		return nil, false
	}
	for _, f := range fields {
		record, ok := f.(string)
		if !ok || record == "" {
			return nil, false
		}
		records = append(records, record)
	}
	return records, true
}

func parseReaders(val any) (readers []driver.RevokeReader, err error) {
	fields, _ := val.([]any)
	for _, f := range fields {
		its, _ := f.([]any)
		if len(its) != 4 {
			return nil, fmt.Errorf("%w: revoke replied a reader with %d fields", driver.ErrBadReply, len(its))
		}
		left, ok := its[1].(int64)
		held, err := parseGrantHeld(driver.RevokeReply{}, []any{its[2], its[3], its[0]})
		if !ok || left < 0 {
			err = fmt.Errorf("%w: revoke replied a reader with a TTL %T", driver.ErrBadReply, its[1])
		}
		if err != nil {
			return nil, err
		}
		readers = append(readers, driver.RevokeReader{Grant: held.Grant, Held: true, Counter: held.Counter,
			TTL: time.Duration(min(left, maxPTTL)) * time.Millisecond, Holder: held.Holder})
	}
	if len(readers) == 0 {
		return nil, fmt.Errorf("%w: revoke replied that readers hold the lock, and names none", driver.ErrBadReply)
	}
	return readers, nil
}

// withMarks adds the marks that stand to a reply.
func withMarks(reply driver.RevokeReply, req *driver.RevokeRequest, stands []string) driver.RevokeReply {
	if req.Grant != "" {
		reply.Record = stands[0]
		return reply
	}
	for i, grant := range req.Readers {
		at := slices.IndexFunc(reply.Readers, func(r driver.RevokeReader) bool { return r.Grant == grant })
		if at < 0 {
			reply.Readers = append(reply.Readers, driver.RevokeReader{Grant: grant})
			at = len(reply.Readers) - 1
		}
		reply.Readers[at].Record = stands[i]
	}
	return reply
}

func parseGrantHeld(reply driver.RevokeReply, fields []any) (driver.RevokeReply, error) {
	digits, ok1 := fields[0].(string)
	holder, ok2 := fields[1].(string)
	grant, ok3 := fields[2].(string)
	counter, err := strconv.ParseUint(digits, 10, 64)
	if !ok1 || !ok2 || !ok3 || err != nil || grant == "" {
		return driver.RevokeReply{}, fmt.Errorf("%w: revoke replied with fields %T %T %T", driver.ErrBadReply, fields[0],
			fields[1], fields[2])
	}
	reply.Counter, reply.Holder, reply.Grant = counter, holder, grant
	return reply, nil
}

// revokedReply is the refusal of extend.lua where the grant is revoked; nil for any other reply.
func revokedReply(reply any) error {
	fields, ok := reply.([]any)
	if !ok || len(fields) != 2 || fields[0] != any(int64(7)) {
		return nil
	}
	record, _ := fields[1].(string)
	return &driver.RevokedError{Record: record}
}
