package zklock

import (
	"strconv"
	"strings"
	"time"
)

// record is what a node's data says: the TTL in milliseconds, and the holder.
func record(ttl time.Duration, holder string) []byte {
	return []byte(strconv.FormatInt(ttl.Milliseconds(), 10) + "|" + holder)
}

// readRecord reads data of ours; that of others says nothing. The rest of the TTL is by
// the clocks of the server, which noted when it was written, and of this process: it
// is a hint.
func readRecord(data []byte, writtenMS int64) (holder string, left time.Duration) {
	ms, holder, ok := strings.Cut(string(data), "|")
	ttl, err := strconv.ParseInt(ms, 10, 64)
	if !ok || err != nil || ttl <= 0 || strings.Count(holder, "|") < 2 {
		return "", 0
	}
	full := time.Duration(ttl) * time.Millisecond
	return holder, min(max(full-time.Since(time.UnixMilli(writtenMS)), time.Millisecond), full)
}
