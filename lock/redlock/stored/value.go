package stored

import (
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// ParseValue returns the fencing token and the holder in the value of a lock key. It drops the owner
// token, which is a secret. ok is false for a value that lockscope did not write.
func ParseValue(value string) (fence uint64, holder lock.Holder, ok bool) {
	head, said, found := strings.Cut(value, "|")
	token, counter, split := strings.Cut(head, ":")
	if !found || !split || !isToken(token) {
		return 0, lock.Holder{}, false
	}
	fence, err := strconv.ParseUint(counter, 10, 64)
	if err != nil {
		return 0, lock.Holder{}, false
	}
	holder, err = records.ParseHolder(said)
	return fence, holder, err == nil
}

// ParseReader returns the fencing token, the expiry by the node's clock, and the holder of a reader: of a field in the
// hash that the readers of a read/write lock are. name is the owner token, which is a secret. ok is false for a field
// that lockscope did not write.
func ParseReader(name, value string) (fence uint64, expires time.Time, holder lock.Holder, ok bool) {
	digits, rest, split := strings.Cut(value, ":")
	ms, err := strconv.ParseInt(digits, 10, 64)
	if !split || err != nil || !isToken(name) {
		return 0, time.Time{}, lock.Holder{}, false
	}
	fence, holder, ok = ParseValue(name + ":" + rest)
	return fence, time.UnixMilli(ms), holder, ok
}

func isToken(text string) bool {
	if len(text) != driver.TokenLength {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
