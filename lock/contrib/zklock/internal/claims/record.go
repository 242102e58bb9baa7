package claims

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// A claim's data is its record, "TTL/session|holder" with both times in milliseconds. A revoked claim has a second line,
// its mark: "written|mark", with the time at which the ensemble had stored the record.

// record returns the record of a claim. A process that writes one makes sure that it replaces no mark.
func record(ttl, session time.Duration, holder string) []byte {
	return []byte(strconv.FormatInt(ttl.Milliseconds(), 10) + "/" + strconv.FormatInt(session.Milliseconds(), 10) + "|" +
		holder)
}

// stored is what the data of a claim says. It is zero for data of another library.
type stored struct {
	ttl, session time.Duration // session is 0 if it was not known
	holder       string
	written      int64  // in milliseconds, by the ensemble's clock
	mark         string // "" unless the claim is revoked
}

// parse reads data that the ensemble stored at this time.
func parse(data []byte, storedMS int64) stored {
	first, mark, isMarked := strings.Cut(string(data), "\n")
	times, holder, ok := strings.Cut(first, "|")
	ttl, session, two := strings.Cut(times, "/")
	s := stored{ttl: parseMS(ttl), session: max(parseMS(session), 0), holder: holder, written: storedMS}
	if !ok || !two || s.ttl <= 0 || strings.Count(holder, "|") < 2 {
		return stored{}
	}
	if isMarked {
		var written string
		written, s.mark, _ = strings.Cut(mark, "|")
		if ms, err := strconv.ParseInt(written, 10, 64); err == nil {
			s.written = ms
		}
	}
	return s
}

// parseMS returns -1 for what is no number of milliseconds.
func parseMS(text string) time.Duration {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 || ms > math.MaxInt64/int64(time.Millisecond) {
		return -1
	}
	return time.Duration(ms) * time.Millisecond
}

// withMark is the data of a claim that is revoked.
func withMark(data []byte, storedMS int64, mark string) []byte {
	return []byte(string(data) + "\n" + strconv.FormatInt(storedMS, 10) + "|" + mark)
}

// left is what remains of the TTL. It compares the ensemble's time with this process's clock, so it is only a hint.
func (s stored) left() time.Duration {
	return min(max(s.ttl-time.Since(time.UnixMilli(s.written)), time.Millisecond), s.ttl)
}

// longest is how long a claim exists at most once its record cannot change any more; negative if that is not known. Its
// process deletes it when the TTL ends, or dies just before: then the leader ends the session, at the first tick after
// its timeout. A session has two ticks at least.
func (s stored) longest() time.Duration {
	if s.session == 0 {
		return -1
	}
	return s.ttl + s.session + s.session/2
}
