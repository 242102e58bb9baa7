package zklock

import "time"

// SessionFor is how long a session [New] asks for if that is what lock.WithMaxTTL says.
// LongestTTL of it is a little longer than the TTL: somebody who has waited for no longer
// than that difference need not ask the leader whether its session lives.
func SessionFor(maxTTL time.Duration) time.Duration { return maxTTL * 5 / 2 }

// LongestTTL is that of locks in sessions as an ensemble allows them: how long a session
// lives at least after a change of its own, or a sync, was sent that took effect. That took
// a session which the leader knew to live, and was no sign of life to it: those are passed
// on by the server that the client is connected to, every half tick, and a client that has
// nothing to ask gives one each third of its session. The last of both may be lost. A
// session has two ticks or more, unless the ensemble's minSessionTimeout says otherwise.
func LongestTTL(session time.Duration) time.Duration {
	tick := session / 2
	return session - session/3 - tick/2
}

// lives reports that the session of a place is known to live until a lock of this TTL has
// ended, if it is granted now.
func (n *node) lives(p *place, ttl time.Duration) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.clock()-p.lived+ttl <= LongestTTL(n.link.allowed())
}

// noteLived says that the session of a place lived at some time, or later.
func (n *node) noteLived(p *place, at time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p.lived = max(p.lived, at)
}
