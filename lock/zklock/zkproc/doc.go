// Package zkproc runs real ZooKeeper servers for tests and demos: plain child processes
// on loopback, one or an ensemble, each in a directory of its own that is removed in the
// end. They end with the process that started them.
package zkproc
