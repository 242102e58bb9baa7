package etcdlock

import (
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// MutexPrefix is the prefix by which a plain concurrency.Mutex excludes an engine of this
// package, and is excluded by it: concurrency.NewMutex(session, MutexPrefix("lock:", resource)),
// with the engine's own prefix. A resource's slashes are escaped, for a Mutex takes
// whatever lies below its prefix for a claim to its lock: "a" would wait for "a/b".
func MutexPrefix(prefix, resource string) string {
	return prefix + strings.ReplaceAll(strings.ReplaceAll(resource, "%", "%25"), "/", "%2F")
}

// directory is below what all claims to a lock are.
func (n *node) directory(key string) string {
	return MutexPrefix(n.prefix, strings.TrimPrefix(key, n.prefix)) + "/"
}

// keyOf is the key of a lease's claim, as concurrency.Mutex has it.
func keyOf(directory string, id clientv3.LeaseID) string { return fmt.Sprintf("%s%x", directory, id) }
