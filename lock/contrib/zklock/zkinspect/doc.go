// Package zkinspect reads the locks of a ZooKeeper ensemble from outside: those of package zklock, of zk.Lock and of
// Curator. It is for lockscope's own packages: its remedies call settings by the flags of the command.
package zkinspect
