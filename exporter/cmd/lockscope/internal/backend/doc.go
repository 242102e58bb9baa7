// Package backend reads who holds locks and who waits for them in the systems beside Redis
// that lockscope has a driver for: PostgreSQL, etcd and ZooKeeper. It changes nothing there.
//
// [Config.Open] checks what the flags say and connects to nothing; errors of bad input never
// hold its text, which may be a password's. [Backend.Connect] asks for the first time.
package backend
