package redlock

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// parseAcquire reads the reply of acquire.lua. It accepts anything a server or a
// proxy may send and never panics.
func parseAcquire(reply any) (driver.AcquireReply, error) {
	fields, ok := reply.([]any)
	if !ok || len(fields) == 0 {
		return driver.AcquireReply{}, fmt.Errorf("%w: acquire got %T", driver.ErrBadReply, reply)
	}
	code, ok := fields[0].(int64)
	switch {
	case !ok:
		return driver.AcquireReply{}, fmt.Errorf("%w: acquire starts with %T", driver.ErrBadReply, fields[0])
	case code == 3:
		return driver.AcquireReply{}, driver.ErrTombstone
	case code == 4:
		return driver.AcquireReply{}, driver.ErrFenceCounter
	case code == 1 && len(fields) == 3:
		counter, ok1 := fields[1].(int64)
		run, ok2 := fields[2].(int64)
		if !ok1 || !ok2 || counter <= 0 || run <= 0 {
			return driver.AcquireReply{}, fmt.Errorf("%w: fence counter and run are not positive numbers", driver.ErrBadReply)
		}
		return driver.AcquireReply{Granted: true, Counter: uint64(counter), Run: uint64(run)}, nil
	case (code == 0 || code == 2) && len(fields) == 5:
		return parseRefusal(code, fields)
	}
	return driver.AcquireReply{}, fmt.Errorf("%w: acquire code %d with %d fields", driver.ErrBadReply, code, len(fields))
}

func parseRefusal(code int64, fields []any) (driver.AcquireReply, error) {
	pttl, ok1 := fields[1].(int64)
	holder, ok2 := fields[2].(string)
	ticket, ok3 := fields[3].(int64)
	ahead, ok4 := fields[4].(int64)
	if !ok1 || !ok2 || !ok3 || !ok4 || ticket < 0 || ahead < 0 {
		return driver.AcquireReply{}, fmt.Errorf("%w: refusal with fields %T %T %T %T",
			driver.ErrBadReply, fields[1], fields[2], fields[3], fields[4])
	}
	return driver.AcquireReply{
		Reserved: code == 2,
		TTL:      time.Duration(min(max(pttl, -1), maxPTTL)) * time.Millisecond,
		Holder:   holder,
		Ticket:   ticket,
		Ahead:    int(min(ahead, 1<<30)),
	}, nil
}

// maxPTTL bounds a foreign lock's TTL to where arithmetic on it cannot overflow: a month.
const maxPTTL = int64(30 * 24 * time.Hour / time.Millisecond)

// parseExtend reads the reply of extend.lua.
func parseExtend(reply any) (driver.ExtendReply, error) {
	code, err := parseCode(reply, -1, 2)
	switch code {
	case 1:
		return driver.ExtendDone, err
	case 2:
		return driver.ExtendRefilled, err
	case -1:
		return driver.ExtendTaken, err
	}
	return driver.ExtendGone, err
}

// parseCode reads a reply that is one number between low and high.
func parseCode(reply any, low, high int64) (int64, error) {
	code, ok := reply.(int64)
	if !ok || code < low || code > high {
		return 0, fmt.Errorf("%w: %T, a number from %d to %d expected", driver.ErrBadReply, reply, low, high)
	}
	return code, nil
}

// parseRelease reads the reply of release.lua.
func parseRelease(reply any) (driver.ReleaseReply, error) {
	fields, ok := reply.([]any)
	if !ok || len(fields) != 2 {
		return driver.ReleaseReply{}, fmt.Errorf("%w: release got %T", driver.ErrBadReply, reply)
	}
	code, err1 := parseCode(fields[0], -1, 1)
	named, err2 := parseCode(fields[1], 0, 1)
	if err := errors.Join(err1, err2); err != nil {
		return driver.ReleaseReply{}, err
	}
	found := driver.FoundNothing
	switch code {
	case 1:
		found = driver.FoundOwn
	case -1:
		found = driver.FoundOther
	}
	return driver.ReleaseReply{Found: found, Named: named == 1}, nil
}

func formatInt(n int64) string   { return strconv.FormatInt(n, 10) }
func formatUint(n uint64) string { return strconv.FormatUint(n, 10) }
