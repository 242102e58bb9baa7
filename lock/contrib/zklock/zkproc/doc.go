// Package zkproc runs real ZooKeeper servers for tests and demos, one or an ensemble. They are child processes
// that listen on loopback, each with a directory of its own, which Stop removes. They end with the process
// that started them.
package zkproc
