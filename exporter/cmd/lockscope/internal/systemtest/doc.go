// Package systemtest starts PostgreSQL, etcd and ZooKeeper for tests of commands that read them.
package systemtest
