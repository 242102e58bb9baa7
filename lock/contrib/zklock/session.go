package zklock

import "time"

// SessionFor returns the session timeout that [New] asks for, given the longest TTL (lock.WithMaxTTL).
// LongestTTL of that session is a little longer than maxTTL. A caller that waited no longer than the
// difference need not ask the leader whether its session lives.
func SessionFor(maxTTL time.Duration) time.Duration { return maxTTL * 5 / 2 }

// LongestTTL returns the longest TTL of a lock in sessions with the given timeout. It is how long a
// session still lives, at least, after one of its changes or syncs took effect.
//
// At that time the leader knew the session to be alive, but a change is no sign of life to the leader.
// Signs of life come from the server that the client is connected to, every half tick, and an idle
// client sends one every third of its session. The last of both may be lost. A session has at least
// two ticks, unless the ensemble's minSessionTimeout is lower.
func LongestTTL(session time.Duration) time.Duration {
	tick := session / 2
	return session - session/3 - tick/2
}

// lives reports whether the session of a place surely outlives a lock of this TTL that is granted now.
func (n *node) lives(p *place, ttl time.Duration) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.clock()-p.lived+ttl <= LongestTTL(n.link.allowed())
}

// noteLived records that the session of a place was alive at some time.
func (n *node) noteLived(p *place, at time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p.lived = max(p.lived, at)
}
