// Package timeline records what happened to contended resources, for a trace that a person opens when a wait is over:
// calls with their attempts, waits and votes, leases and how they ended, and renewals.
//
// # What is recorded
//
// A resource is recorded from the first wait for it, and for as long as somebody has waited for it in the last ten
// minutes. Nothing is recorded of other resources, so that an acquire without contention costs an atomic load. Calls
// and leases that were under way when the first wait began are recorded when they end.
//
// # Memory
//
// A Recorder has at most 32 resources unless it is made for others, and of each the latest 4,096 events of 112 bytes.
// The events of a call share 64 bytes for its caller, and up to 300 for each holder of another process. With three
// nodes a contended call has about ten events: a resource takes 0.6 MB when its ring is full, and 32 take 19 MB. The
// text of a failure takes up to 256 bytes, and equal texts are shared. If nodes fail with texts that all differ, it is
// 1.3 MB and 42 MB. Rings grow with the events: a resource with 100 calls takes 0.15 MB.
package timeline
