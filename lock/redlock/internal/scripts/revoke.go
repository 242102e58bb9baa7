package scripts

import (
	_ "embed" // the script
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

//go:embed revoke.lua
var revokeLua string

// RevokeArgs are the arguments of revoke.lua but the last: the marker that the connection expects.
func (s *Set) RevokeArgs(req *driver.RevokeRequest, at Place) []any {
	k := s.keys.of(req.Key)
	mark, record := "lockscope:peek:{"+k.lock+"}", ""
	if req.Grant != "" {
		mark, record = k.tombstoneOf(req.Grant), req.Record
	}
	return append(at.appendKeys([]any{"evalsha", s.Revoke.Hash}, k.args.lock, mark), record, millis(req.Keep))
}

// Revoked reads the reply of revoke.lua.
func Revoked(g *guard.Guard, val any) (driver.RevokeReply, error) {
	reply, err := parseRevoke(val)
	if other, ok := errors.AsType[unprovenError](err); ok {
		err = g.Unread(other.marker)
	}
	return reply, err
}

// parseRevoke accepts anything a server or a proxy may send and never panics.
func parseRevoke(val any) (driver.RevokeReply, error) {
	fields, _ := val.([]any)
	if len(fields) < 2 {
		return driver.RevokeReply{}, fmt.Errorf("%w: revoke replied a %T", driver.ErrBadReply, val)
	}
	code, ok1 := fields[0].(int64)
	record, ok2 := fields[1].(string)
	if code == 5 && ok1 && ok2 {
		return driver.RevokeReply{}, unprovenError{record}
	}
	reply := driver.RevokeReply{Record: record, Held: code != 0, Shared: code == 2}
	pttl, ok3 := int64(0), true
	if len(fields) > 2 {
		pttl, ok3 = fields[2].(int64)
	}
	reply.TTL = time.Duration(min(max(pttl, -1), maxPTTL)) * time.Millisecond
	if len(fields) != map[int64]int{0: 2, 1: 6, 2: 3, 3: 3}[code] || !ok1 || !ok2 || !ok3 {
		return driver.RevokeReply{}, fmt.Errorf("%w: revoke replied code %v with %d fields", driver.ErrBadReply, code,
			len(fields))
	}
	if code == 1 {
		return parseGrantHeld(reply, fields[3:])
	}
	return reply, nil
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
