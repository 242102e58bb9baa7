// Package etcdinspect reads the locks of an etcd cluster from outside: those of package etcdlock and of plain
// concurrency.Mutexes. It is for lockscope's own packages: its remedies call settings by the flags of the command.
package etcdinspect
