package claims

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The names of claims are those of zk.Lock and Curator, so that all share one queue.
const (
	protected = "_c_"    // then a GUID by which a client finds what it has made
	lockName  = "-lock-" // then ten digits
	// readerName is lockName for a claim that shares the lock with other readers. zk.Lock and Curator take it for a
	// claim like any other, and wait behind it.
	readerName = "-read-lock-"
	seqDigits  = 10
)

// nameOf is what a claim's name is made of, before its number.
func nameOf(guid string, reads bool) string {
	if reads {
		return protected + guid + readerName
	}
	return protected + guid + lockName
}

// escape turns a resource into one name: a slash would make a child node, and ZooKeeper forbids some
// characters.
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

// seqOf returns the position of a name in its queue; false for names that are not claims.
func seqOf(name string) (int64, bool) {
	if len(name) < seqDigits || !strings.Contains(name, "lock") {
		return 0, false
	}
	seq, err := strconv.ParseUint(name[len(name)-seqDigits:], 10, 63)
	return int64(seq), err == nil
}

// isReader reports whether a claim shares the lock with other readers.
func isReader(name string) bool {
	return len(name) >= seqDigits && strings.HasSuffix(name[:len(name)-seqDigits], readerName)
}

// queueOf returns the names of a queue's claims, in order.
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
