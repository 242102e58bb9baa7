// Package draw lays out what a timeline has recorded as a trace.
//
// Each resource has a group of processes: one for each instance that held it or waited for it, in the order in which
// they first held it, and one for the nodes. A process has a row of leases and a row for each call at a time; the nodes
// have a row for each node. An arrow goes from the end of a lease through the wait that it ended to the next lease.
package draw
