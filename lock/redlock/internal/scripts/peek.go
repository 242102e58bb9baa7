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

//go:embed peek.lua
var peekLua string

// PeekArgs are the arguments of peek.lua but the last: the marker that the connection expects.
func (s *Set) PeekArgs(req *driver.PeekRequest, at Place) []any {
	k := s.keys.of(req.Key)
	return at.appendKeys([]any{"evalsha", s.Peek.Arg()}, k.args.lock, "lockscope:peek:{"+k.lock+"}")
}

// Peeked reads the reply of peek.lua.
func Peeked(g *guard.Guard, val any) (driver.PeekReply, error) {
	reply, err := parsePeek(val)
	if other, ok := errors.AsType[unprovenError](err); ok {
		err = g.Unread(other.marker)
	}
	return reply, err
}

// parsePeek accepts anything a server or a proxy may send and never panics.
func parsePeek(val any) (driver.PeekReply, error) {
	fields, _ := val.([]any)
	if len(fields) == 0 {
		return driver.PeekReply{}, fmt.Errorf("%w: peek replied a %T", driver.ErrBadReply, val)
	}
	switch code, _ := fields[0].(int64); {
	case len(fields) == 1 && fields[0] == any(int64(0)):
		return driver.PeekReply{}, nil
	case len(fields) == 2 && code == 5:
		marker, _ := fields[1].(string)
		return driver.PeekReply{}, unprovenError{marker}
	case len(fields) == 4 && code == 1:
		return parseHolding(fields)
	}
	return driver.PeekReply{}, fmt.Errorf("%w: peek replied a %T with %d fields", driver.ErrBadReply, fields[0],
		len(fields))
}

func parseHolding(fields []any) (driver.PeekReply, error) {
	pttl, ok1 := fields[1].(int64)
	digits, ok2 := fields[2].(string)
	holder, ok3 := fields[3].(string)
	counter, err := strconv.ParseUint(digits, 10, 64)
	if !ok1 || !ok2 || !ok3 || err != nil {
		return driver.PeekReply{}, fmt.Errorf("%w: peek replied with fields %T %T %T", driver.ErrBadReply, fields[1],
			fields[2], fields[3])
	}
	return driver.PeekReply{
		Held: true, Counter: counter, Holder: holder,
		TTL: time.Duration(min(max(pttl, -1), maxPTTL)) * time.Millisecond,
	}, nil
}
