// Package etcd is the backend of etcd, for locks of package etcdlock or of concurrency.Mutex: it reads who holds them
// and who waits, and examines whether they are safe there.
package etcd
