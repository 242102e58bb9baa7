package etcdlock

import (
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// MutexPrefix returns the prefix with which a plain concurrency.Mutex and an engine of this package exclude
// each other: concurrency.NewMutex(session, MutexPrefix("lock:", resource)). prefix is the engine's. It
// escapes the slashes of the resource: a Mutex takes every key below its prefix for a claim to its lock, so
// "a" would wait for "a/b".
func MutexPrefix(prefix, resource string) string {
	return prefix + strings.ReplaceAll(strings.ReplaceAll(resource, "%", "%25"), "/", "%2F")
}

// directory is the common prefix of all claims to a lock.
func (n *node) directory(key string) string {
	return MutexPrefix(n.prefix, strings.TrimPrefix(key, n.prefix)) + "/"
}

// readerMark begins the last part of a reader's key. It sorts behind the hexadecimal digits of other claims, so
// one range has all claims that exclude readers.
const readerMark = "r"

// keyOf is the key of a lease's claim, as in concurrency.Mutex unless it is a reader's.
func keyOf(directory string, id clientv3.LeaseID, reads bool) string {
	if reads {
		directory += readerMark
	}
	return fmt.Sprintf("%s%x", directory, id)
}

// rivals is the range of the directory's keys that exclude the claim if they are older.
func (c *claim) rivals() clientv3.OpOption {
	if c.reads {
		return clientv3.WithRange(c.directory + readerMark)
	}
	return clientv3.WithPrefix()
}

// oldestRival reads the oldest claim that excludes this one.
func (c *claim) oldestRival() clientv3.Op {
	return clientv3.OpGet(c.directory, append(clientv3.WithFirstCreate(), c.rivals())...)
}

// noRival holds if no claim excludes this one.
func (c *claim) noRival() clientv3.Cmp {
	free := clientv3.Compare(clientv3.CreateRevision(c.directory), "=", 0)
	if c.reads {
		return free.WithRange(c.directory + readerMark)
	}
	return free.WithPrefix()
}
