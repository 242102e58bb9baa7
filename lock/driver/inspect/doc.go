// Package inspect defines how tools see the locks of a system from outside: who holds them, who waits, what leaked, and
// whether locks are safe there. A driver that has an inspector keeps it in a package of its own, beside the driver.
package inspect
