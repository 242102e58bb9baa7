package scripts

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// unprovenError is the reply of a server that did not vote, for its marker is not the one expected.
type unprovenError struct{ marker string }

func (unprovenError) Error() string { return driver.ErrQuarantined.Error() }

func (unprovenError) Unwrap() []error { return []error{driver.ErrNotSent, driver.ErrQuarantined} }

// IsUnproven reports that a reply of acquire.lua is that the server may not vote.
func IsUnproven(reply any) bool {
	fields, ok := reply.([]any)
	return ok && len(fields) == 2 && fields[0] == any(int64(5))
}

// parseAcquire reads the reply of acquire.lua. It accepts anything a server or a
// proxy may send and never panics. A reply that the server does not vote is an
// [unprovenError].
func parseAcquire(reply any) (driver.AcquireReply, error) {
	if counter, ok := reply.(int64); ok {
		return parseGrant(counter, 1)
	}
	fields, ok := reply.([]any)
	if !ok || len(fields) == 0 {
		return driver.AcquireReply{}, fmt.Errorf("%w: acquire replied a %T", driver.ErrBadReply, reply)
	}
	if known, err := otherSlots(reply); known != 0 || err != nil {
		return driver.AcquireReply{Slots: known}, err
	}
	code, ok := fields[0].(int64)
	switch {
	case !ok:
		return driver.AcquireReply{}, fmt.Errorf("%w: acquire replied a %T first", driver.ErrBadReply, fields[0])
	case code == 3:
		return driver.AcquireReply{}, driver.ErrTombstone
	case code == 4:
		return driver.AcquireReply{}, driver.ErrFenceCounter
	case code == 5 && len(fields) == 2:
		marker, _ := fields[1].(string)
		return driver.AcquireReply{}, unprovenError{marker}
	case code == 1 && len(fields) == 3:
		counter, ok1 := fields[1].(int64)
		run, ok2 := fields[2].(int64)
		if ok1 && ok2 {
			return parseGrant(counter, run)
		}
	case (code == 0 || code == 2) && (len(fields) == 5 || len(fields) == 6):
		return parseRefusal(code, fields)
	}
	return driver.AcquireReply{}, fmt.Errorf("%w: acquire replied code %d with %d fields", driver.ErrBadReply, code,
		len(fields))
}

func parseGrant(counter, run int64) (driver.AcquireReply, error) {
	if counter <= 0 || run <= 0 {
		return driver.AcquireReply{}, fmt.Errorf("%w: fence counter is not a positive number", driver.ErrBadReply)
	}
	return driver.AcquireReply{Granted: true, Counter: uint64(counter), Run: uint64(run)}, nil
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
	free := int64(0)
	if len(fields) == 6 {
		var ok bool
		if free, ok = fields[5].(int64); !ok || free < 0 {
			return driver.AcquireReply{}, fmt.Errorf("%w: refusal with a free slot %T", driver.ErrBadReply, fields[5])
		}
	}
	return driver.AcquireReply{
		Reserved: code == 2,
		TTL:      time.Duration(min(max(pttl, -1), maxPTTL)) * time.Millisecond,
		Holder:   holder,
		Ticket:   ticket,
		Ahead:    int(min(ahead, 1<<30)),
		Free:     int(min(free, 1<<30)),
	}, nil
}

// maxPTTL bounds a foreign lock's TTL to where arithmetic on it cannot overflow: a month.
const maxPTTL = int64(30 * 24 * time.Hour / time.Millisecond)

// parseExtend reads the reply of extend.lua.
func parseExtend(reply any) (driver.ExtendReply, error) {
	if fields, ok := reply.([]any); ok && len(fields) == 2 && fields[0] == any(int64(5)) {
		marker, _ := fields[1].(string)
		return driver.ExtendGone, unprovenError{marker}
	}
	if err := revokedReply(reply); err != nil {
		return driver.ExtendGone, err
	}
	if known, err := otherSlots(reply); known != 0 || err != nil {
		return driver.ExtendNoSlot, err
	}
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

// parseQuarantine reads the reply of quarantine.lua.
func parseQuarantine(reply any) (guard.Answer, error) {
	code, marker, rest, err := parseMarker(reply, guard.AnswerOther, guard.AnswerChanging)
	if err != nil {
		return guard.Answer{}, err
	}
	a := guard.Answer{Code: int(code), Marker: marker}
	if a.Code != guard.AnswerQuarantined {
		return a, nil
	}
	if len(rest) == 1 {
		if left, ok := rest[0].(int64); ok && left > 0 {
			a.Left = time.Duration(min(left, maxPTTL)) * time.Millisecond
			return a, nil
		}
	}
	return guard.Answer{}, fmt.Errorf("%w: a quarantine without what is left of it", driver.ErrBadReply)
}

// parseMarker reads a code, a marker, and what follows.
func parseMarker(reply any, low, high int64) (code int64, marker string, rest []any, err error) {
	fields, _ := reply.([]any)
	if len(fields) < 2 {
		return 0, "", nil, fmt.Errorf("%w: %T, a marker expected", driver.ErrBadReply, reply)
	}
	code, err = parseCode(fields[0], low, high)
	marker, ok := fields[1].(string)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %T, a marker expected", driver.ErrBadReply, fields[1])
	}
	return code, marker, fields[2:], err
}

// parseCode reads a reply that is one number between low and high.
func parseCode(reply any, low, high int64) (int64, error) {
	code, ok := reply.(int64)
	if !ok || code < low || code > high {
		return 0, fmt.Errorf("%w: %T, a number from %d to %d expected", driver.ErrBadReply, reply, low, high)
	}
	return code, nil
}

// ParseFlag reads a reply that is 1 or 0.
func ParseFlag(reply any) (bool, error) {
	code, err := parseCode(reply, 0, 1)
	return code == 1, err
}

// ParseRelease reads the reply of release.lua.
func ParseRelease(reply any) (driver.ReleaseReply, error) {
	code, err := parseCode(reply, 0, 6)
	if err == nil && code == 3 {
		err = fmt.Errorf("%w: release code %d", driver.ErrBadReply, code)
	}
	if err != nil {
		return driver.ReleaseReply{}, err
	}
	found := [...]driver.ReleaseFound{driver.FoundNothing, driver.FoundOwn, driver.FoundOther}[code%4]
	return driver.ReleaseReply{Found: found, Named: code >= 4}, nil
}

func formatInt(n int64) string   { return strconv.FormatInt(n, 10) }
func formatUint(n uint64) string { return strconv.FormatUint(n, 10) }
