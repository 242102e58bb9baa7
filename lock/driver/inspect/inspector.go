package inspect

import (
	"context"
	"time"
)

// Inspector is a system with locks, seen from outside. It connects when it is first asked, and says within seconds why it
// cannot. Its methods are not to be called concurrently. Errors name the system, its address and the remedy, which calls
// settings by the flags of the command lockscope.
type Inspector interface {
	Reader
	System() string  // as it is called in metrics: postgresql, etcd or zookeeper
	Address() string // of its servers, without credentials
	// Ping asks for an answer that costs as little as a lock's call can. A refusal is an answer. It returns the time of the
	// server if the answer has it.
	Ping(ctx context.Context) (time.Time, error)
	// Leaks looks for leaked locks. It returns what it could read together with the error.
	Leaks(ctx context.Context, r *Rules) (Look, error)
	// Repair acts on a leak if it is still as guard says, or reports that it would. An error that matches [ErrUnsafe] says
	// that nothing was done.
	Repair(ctx context.Context, key, guard string, dry bool) (Outcome, error)
	// Libraries recognises the locks of libraries. It looks at about as many keys as sample says.
	Libraries(ctx context.Context, sample int) (Libraries, error)
	// Examine judges whether locks are safe there, as the user that takes them. It changes nothing. maxTTL is the longest
	// TTL of a lock that lives as long as a session. Errors, also the end of ctx, are in the results.
	Examine(ctx context.Context, maxTTL time.Duration) Examination
	Close()
}
