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

// keyOf is the key of a lease's claim, as in concurrency.Mutex.
func keyOf(directory string, id clientv3.LeaseID) string { return fmt.Sprintf("%s%x", directory, id) }
