// Package backend reads the systems beside Redis that lockscope has a driver for: holders, waiters, and whether locks
// are safe there. It changes nothing there.
//
// Packages postgres, etcd and zookeeper have a Backend each. Their New checks the flags and connects to nothing; its
// errors never repeat the input, which may hold a password. The first question sends the first request.
package backend
