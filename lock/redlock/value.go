package redlock

import (
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// ParseValue returns the fencing token and the holder in the value of a lock key. It drops the owner
// token, which is a secret. ok is false for a value that lockscope did not write.
func ParseValue(value string) (fence uint64, holder lock.Holder, ok bool) {
	head, said, found := strings.Cut(value, "|")
	token, counter, split := strings.Cut(head, ":")
	if !found || !split || len(token) != driver.TokenLength {
		return 0, lock.Holder{}, false
	}
	for i := range len(token) {
		if c := token[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0, lock.Holder{}, false
		}
	}
	fence, err := strconv.ParseUint(counter, 10, 64)
	if err != nil {
		return 0, lock.Holder{}, false
	}
	holder, err = records.ParseHolder(said)
	return fence, holder, err == nil
}
