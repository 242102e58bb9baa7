// Package diagnosis asks Redis servers whether what Redlock assumes is true of them.
//
// [Gather] collects facts from the servers and changes nothing on them. [Examine]
// judges the facts with one small function per assumption. [Postgres], [Etcd] and
// [ZooKeeper] do both for the other systems that lockscope has a driver for.
package diagnosis
