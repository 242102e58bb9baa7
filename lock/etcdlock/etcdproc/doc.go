// Package etcdproc runs real etcd clusters for tests and demos. The members are child processes that listen
// on loopback, each with a directory of its own, which Stop removes. They end with the process that started
// them.
package etcdproc
