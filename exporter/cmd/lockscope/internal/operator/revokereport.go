package operator

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// maxFree is the longest time that is worth saying: a node has a key without a TTL beyond it.
const maxFree = 365 * 24 * time.Hour

// reportRevoked is what happened, and what to expect.
func reportRevoked(r engine.Revocation, now time.Time) string {
	h := r.Holders[0]
	text := fmt.Sprintf("%q is held by %s\n", r.Resource, since(h, now))
	if h.Again {
		text += earlier(h.Mark)
	}
	text += fmt.Sprintf("%d of %d nodes refuse to renew it from now on\n", r.Marked, r.Nodes)
	if r.FreeIn > maxFree {
		return text + "it is not known when the lock is free: a node has a key that never expires\n"
	}
	return text + fmt.Sprintf("the lock is free at the latest in %v, unless another caller gets it before\n",
		rounded(r.FreeIn))
}

func reportReaders(r engine.Revocation, now time.Time) string {
	text := fmt.Sprintf("%q is read by:\n", r.Resource)
	for _, one := range r.Holders {
		text += "  " + since(one, now) + "\n"
		if one.Again {
			text += "    " + earlier(one.Mark)
		}
	}
	text += fmt.Sprintf("%d of %d nodes refuse to renew these leases from now on\n", r.Marked, r.Nodes)
	if r.FreeIn > maxFree {
		return text + "it is not known when the last of them ends: it does not say for how long it reads\n"
	}
	return text + fmt.Sprintf("these readers hold up a writer for %v at most\n", rounded(r.FreeIn))
}

// since is who holds a lease, and for how long.
func since(r engine.Revoked, now time.Time) string {
	h := r.Holder
	return fmt.Sprintf("%s since %s (%v)", h.Instance, h.Since.UTC().Format(time.RFC3339), now.Sub(h.Since).Round(time.Second))
}

// earlier is who revoked a lease before.
func earlier(m lock.RevokedError) string {
	return fmt.Sprintf("%s revoked it before, at %s: %s\n", m.By, m.Since.UTC().Format(time.RFC3339), m.Reason)
}

// rounded is a bound that a person reads.
func rounded(d time.Duration) time.Duration {
	return (d + 99*time.Millisecond).Truncate(100 * time.Millisecond)
}
