package zklock

import (
	"strconv"
	"strings"
	"time"
)

// record returns a place's data: the TTL in milliseconds and the holder.
func record(ttl time.Duration, holder string) []byte {
	return []byte(strconv.FormatInt(ttl.Milliseconds(), 10) + "|" + holder)
}

// readRecord parses data of this package; other data has no record. The remaining TTL compares the server's
// time of the write with this process's clock, so it is only a hint.
func readRecord(data []byte, writtenMS int64) (holder string, left time.Duration) {
	ms, holder, ok := strings.Cut(string(data), "|")
	ttl, err := strconv.ParseInt(ms, 10, 64)
	if !ok || err != nil || ttl <= 0 || strings.Count(holder, "|") < 2 {
		return "", 0
	}
	full := time.Duration(ttl) * time.Millisecond
	return holder, min(max(full-time.Since(time.UnixMilli(writtenMS)), time.Millisecond), full)
}
