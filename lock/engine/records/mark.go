package records

import (
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// MaxByLength is the maximum length of the name of who revokes a lease, in bytes.
const MaxByLength = 128

// AppendMark adds the form in which nodes keep who revoked a lease and why: by|since in ms|reason.
func AppendMark(b []byte, by, reason string, since time.Time) []byte {
	b = append(append(b, safeText(by, MaxByLength)...), '|')
	b = append(strconv.AppendInt(b, since.UnixMilli(), 10), '|')
	return append(b, safeText(reason, lock.MaxReasonLength)...)
}

// Revoked is what a mark says of a lease on this resource.
func Revoked(resource, record string) lock.RevokedError {
	by, reason, since := ParseMark(record)
	return lock.RevokedError{Resource: resource, By: by, Reason: reason, Since: since}
}

// ParseMark reads the record of a mark. It accepts anything that a node may store. Further fields, which a later
// version may add, are ignored. What cannot be read is empty.
func ParseMark(record string) (by, reason string, since time.Time) {
	fields := strings.SplitN(record, "|", 4)
	by = safeText(fields[0], MaxByLength)
	if len(fields) > 1 {
		if ms, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			since = time.UnixMilli(ms)
		}
	}
	if len(fields) > 2 {
		reason = safeText(fields[2], lock.MaxReasonLength)
	}
	return by, reason, since
}
