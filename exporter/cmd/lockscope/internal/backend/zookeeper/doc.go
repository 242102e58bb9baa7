// Package zookeeper is the backend of ZooKeeper, for locks of package zklock, of zk.Lock or of Curator: it reads who
// holds them and who waits, and examines whether they are safe there.
package zookeeper
