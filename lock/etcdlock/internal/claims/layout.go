package claims

import (
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// MutexPrefix is the documented function of package etcdlock.
func MutexPrefix(prefix, resource string) string {
	return prefix + strings.ReplaceAll(strings.ReplaceAll(resource, "%", "%25"), "/", "%2F")
}

// layout names the keys below a prefix.
type layout struct{ prefix string }

// directory is the common prefix of all claims to a lock.
func (l layout) directory(key string) string {
	return MutexPrefix(l.prefix, strings.TrimPrefix(key, l.prefix)) + "/"
}

// slots is the key of a semaphore's number of slots. No resource has a directory that contains it.
func (l layout) slots(semaphore string) string {
	return MutexPrefix(l.prefix+"/slots/", strings.TrimPrefix(semaphore, l.prefix)) + "#k"
}

// mark is the key of the mark of the claim that a revision has created. No resource has a directory that contains it.
func (l layout) mark(directory string, created int64) string {
	return l.prefix + "/marks/" + strings.TrimPrefix(directory, l.prefix) + "m" + strconv.FormatInt(created, 10)
}

// readerMark begins the last part of a reader's key. It sorts behind the hexadecimal digits of other claims, so one range
// has all claims that exclude readers.
const readerMark = "r"

// keyOf is the key of a lease's claim, as in concurrency.Mutex unless it is a reader's.
func keyOf(directory string, id clientv3.LeaseID, reads bool) string {
	if reads {
		directory += readerMark
	}
	return fmt.Sprintf("%s%x", directory, id)
}

func isReader(claim *mvccpb.KeyValue) bool {
	return strings.HasPrefix(string(claim.Key[strings.LastIndexByte(string(claim.Key), '/')+1:]), readerMark)
}

// lockOf returns the key of the lock that a claim is for: the inverse of directory and keyOf. ok is false for a key that is
// no claim.
func lockOf(prefix, claim string) (key string, ok bool) {
	claim = strings.TrimPrefix(claim, prefix)
	at := strings.LastIndexByte(claim, '/')
	if at < 0 {
		return "", false
	}
	if _, err := strconv.ParseUint(strings.TrimPrefix(claim[at+1:], readerMark), 16, 64); err != nil {
		return "", false
	}
	return prefix + strings.ReplaceAll(strings.ReplaceAll(claim[:at], "%2F", "/"), "%25", "%"), true
}
