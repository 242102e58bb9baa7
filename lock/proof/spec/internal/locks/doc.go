// Package locks has the models of one lock: [Votes] of messages, leases and time; [Fences] of fencing tokens; [Revokes]
// of a lease that an operator ends.
package locks
