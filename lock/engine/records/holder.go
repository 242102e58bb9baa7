package records

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/internal/text"
)

const (
	maxInstanceLength    = 128
	maxTraceparentLength = 64
	maxCallSiteLength    = 128
	maxPageLength        = 256
)

// AppendHolder adds the form in which a [lock.Holder] travels, with a name for what it holds:
// instance|since in ms|traceparent|name, then as far as anything follows that is known: |call site|page, |kind or
// |kind:slots, |reason, and |done|: see [Done].
func AppendHolder(b []byte, h lock.Holder, name string) []byte {
	b = append(append(appendFirst(b, h), '|'), name...)
	if h.CallSite != "" || h.Page != "" || h.Kind != "" || h.Reason != "" {
		b = appendRest(append(b, '|'), h)
	}
	b = appendKind(b, h)
	if h.Reason != "" {
		if h.Kind == "" {
			b = append(b, '|')
		}
		b = append(append(b, '|'), safeText(h.Reason, lock.MaxReasonLength)...)
	}
	if h.Done {
		return []byte(Done(string(b)))
	}
	return b
}

// done is the last field of the record of a holder that has released its lock.
const done = "|done|"

// Done is the record of a holder whose lock is kept after its release.
func Done(record string) string {
	return record + strings.Repeat("|", max(0, 7-strings.Count(record, "|"))) + done
}

// appendKind adds |kind or |kind:slots if there is a kind.
func appendKind(b []byte, h lock.Holder) []byte {
	if h.Kind == "" {
		return b
	}
	b = append(append(b, '|'), h.Kind...)
	if h.Slots > 0 {
		b = strconv.AppendInt(append(b, ':'), int64(h.Slots), 10)
	}
	return b
}

func appendFirst(b []byte, h lock.Holder) []byte {
	b = append(b, safeText(h.Instance, maxInstanceLength)...)
	b = append(b, '|')
	b = strconv.AppendInt(b, h.Since.UnixMilli(), 10)
	b = append(b, '|')
	return append(b, safeText(h.Traceparent, maxTraceparentLength)...)
}

func appendRest(b []byte, h lock.Holder) []byte {
	b = append(b, safeText(h.CallSite, maxCallSiteLength)...)
	return append(append(b, '|'), safeText(h.Page, maxPageLength)...)
}

// ParseHolder reads the holder part of a lock value. Further fields, which a
// later version may add, are ignored.
func ParseHolder(record string) (lock.Holder, error) {
	fields := strings.SplitN(record, "|", 10)
	if len(fields) < 3 {
		return lock.Holder{}, fmt.Errorf("lock: holder record has %d fields, at least 3 expected", len(fields))
	}
	ms, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return lock.Holder{}, fmt.Errorf("lock: holder record's time is not a number of milliseconds")
	}
	h := lock.Holder{
		Instance:    safeText(fields[0], maxInstanceLength),
		Since:       time.UnixMilli(ms),
		Traceparent: safeText(fields[2], maxTraceparentLength),
	}
	if len(fields) > 5 { // the fourth is the name of the attempt, or how many wait
		h.CallSite, h.Page = safeText(fields[4], maxCallSiteLength), safeText(fields[5], maxPageLength)
	}
	if len(fields) > 6 {
		h.Kind, h.Slots = parseKind(fields[6])
	}
	if len(fields) > 7 {
		h.Reason = safeText(fields[7], lock.MaxReasonLength)
	}
	h.Done = len(fields) > 8 && fields[8] == strings.Trim(done, "|")
	return h, nil
}

// parseKind drops a kind of a later version.
func parseKind(field string) (lock.Kind, int) {
	kind, count, _ := strings.Cut(field, ":")
	k := lock.Kind(kind)
	if !k.Valid() || k == "" {
		return "", 0
	}
	slots, err := strconv.Atoi(count)
	if err != nil || slots < 0 {
		slots = 0
	}
	return k, slots
}

// ValidPage refuses what nobody could open, and a URL with credentials: others read it.
func ValidPage(page string) bool {
	if page == "" {
		return true
	}
	u, err := url.Parse(page)
	return err == nil && text.Shows(page) && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		len(page) <= maxPageLength
}
