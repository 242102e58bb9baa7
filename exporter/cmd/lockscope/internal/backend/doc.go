// Package backend is a system beside Redis that lockscope has a driver for: who holds locks there, who waits for them,
// and whether they are safe. It changes nothing there.
//
// Packages postgres, etcd and zookeeper have a Backend each. Their New checks what the flags say and connects to
// nothing; errors of bad input never hold its text, which may be a password's. [Backend.Connect] asks for the first
// time.
package backend
