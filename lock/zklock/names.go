package zklock

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The names of nodes are those of zk.Lock and of Curator: all stand in one queue.
const (
	protected = "_c_"    // then a GUID by which a client finds what it has made
	lockName  = "-lock-" // then ten digits
	seqDigits = 10
)

// escape makes one name of a resource: a slash would be a node below a node, and some
// characters are not allowed.
func escape(resource string) string {
	name := url.PathEscape(resource)
	if strings.Trim(name, ".") == "" {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return name
}

// guidOf is public, unlike the token.
func guidOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:16])
}

// seqOf is the position of a name in its queue; it is false for what is no lock.
func seqOf(name string) (int64, bool) {
	if len(name) < seqDigits || !strings.Contains(name, "lock") {
		return 0, false
	}
	seq, err := strconv.ParseInt(name[len(name)-seqDigits:], 10, 64)
	return seq, err == nil
}

// queueOf are the names of a queue in their order.
func queueOf(names []string) []string {
	var queue []string
	for _, name := range names {
		if _, ok := seqOf(name); ok {
			queue = append(queue, name)
		}
	}
	slices.SortFunc(queue, func(a, b string) int {
		x, _ := seqOf(a)
		y, _ := seqOf(b)
		return int(x - y)
	})
	return queue
}
