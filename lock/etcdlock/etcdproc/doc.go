// Package etcdproc runs real etcd clusters for tests and demos: plain child processes on
// loopback, each in a directory of its own that is removed in the end. They end with the
// process that started them.
package etcdproc
