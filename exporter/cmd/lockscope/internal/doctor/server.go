package doctor

import (
	"fmt"
	"time"
)

func checkVersion(f Facts, p Policy) Result {
	s := f.Server
	big, small := major(s.Version)
	switch {
	case s.Mode == "sentinel":
		return fail("this is a Sentinel, not a server for data", "give --sentinel-master NAME, or the servers themselves")
	case s.Loading:
		return fail(s.Version+", still loading its data", "wait until it has: it refuses every command")
	case s.Mode == "cluster" && p.Single == "":
		return warn(s.Version+", a member of a Redis Cluster", "it redirects most keys: give --cluster, or standalone servers")
	case big == 0:
		return warn("version "+s.Version+" is not understood", "lockscope is tested against Redis 7.0")
	case big < 5:
		return fail(s.Version, "the scripts need Redis 5 or later")
	case big < 6 || big == 6 && small < 2:
		return warn(s.Version, "no security fixes are made for it any more: upgrade")
	}
	return pass(s.Version)
}

func checkRole(f Facts, _ Policy) Result {
	switch {
	case f.Server.Role == "slave":
		return fail("a replica", "name its master: what is written to a replica, or promised by it, is lost")
	case f.Server.Replicas > 0:
		return warn(fmt.Sprintf("master with %d replicas", f.Server.Replicas),
			"promoting a replica loses the last locks: do not fail over automatically, or treat it as a restart without data")
	}
	return pass("master")
}

func checkEviction(f Facts, _ Policy) Result {
	s := f.Server
	detail := fmt.Sprintf("maxmemory-policy %s, maxmemory %s", s.Policy, bytes(s.MaxMemory))
	const mend = "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf"
	switch {
	case s.Policy == "":
		return warn("the server does not tell its maxmemory-policy", "make sure that it is noeviction")
	case s.Policy != "noeviction" && s.MaxMemory > 0:
		return fail(detail, "an evicted lock is a second holder, so lockscope refuses this node: "+mend)
	case s.Policy != "noeviction":
		return warn(detail+" (unlimited)", "locks would be evicted as soon as maxmemory is set: "+mend)
	case s.MaxMemory > 0 && s.UsedMemory > s.MaxMemory/10*9:
		return warn(fmt.Sprintf("%s, %s used", detail, bytes(s.UsedMemory)), "when it is full no lock can be taken: make room")
	}
	return pass(detail)
}

func checkEvicted(f Facts, _ Policy) Result {
	if n := f.Server.EvictedKeys; n > 0 {
		return warn(fmt.Sprintf("%d keys evicted since its start", n), "locks may have been among them: see eviction above")
	}
	return pass("nothing evicted since its start")
}

// checkPersistence: with three nodes or more, lockscope keeps a restarted node
// from voting until nothing it has forgotten can be valid. With fewer it cannot.
func checkPersistence(f Facts, p Policy) Result {
	const always = "CONFIG SET appendonly yes and appendfsync always, and the same in redis.conf"
	s := f.Server
	switch {
	case s.AOF && s.AOFError:
		return fail("appendonly yes, and the last write to the file failed", "is the disk full? Locks are not remembered and writes may be refused")
	case s.AOF && f.Fsync == "always":
		return pass("appendonly yes, appendfsync always: a restart keeps every lock")
	case s.AOF && f.Fsync == "":
		return warn("appendonly yes, appendfsync unknown", "grant +config|get: a node that forgets nothing need not be silent after a restart")
	case p.quarantined() && s.AOF:
		return warn(fmt.Sprintf("appendonly yes, appendfsync %s: a crash forgets the last locks", f.Fsync),
			fmt.Sprintf("lockscope keeps the node from voting for %v after a restart; other libraries do not: %s", p.MaxTTL, always))
	case p.quarantined():
		return warn("appendonly no: a restart forgets every lock",
			fmt.Sprintf("lockscope keeps the node from voting for %v after a restart; other libraries do not: %s", p.MaxTTL, always))
	case s.AOF:
		return warn(fmt.Sprintf("appendonly yes, appendfsync %s: a crash forgets the last locks", f.Fsync),
			"with fewer than three nodes nothing stops a second holder then: "+always)
	}
	return fail("appendonly no: a restart forgets every lock",
		"with fewer than three nodes nothing stops a second holder then: "+always)
}

// quarantined reports whether lockscope keeps restarted nodes silent.
func (p Policy) quarantined() bool { return p.nodes >= 3 && p.Single == "" }

func checkUptime(f Facts, p Policy) Result {
	up := f.Server.Uptime
	if up >= p.MaxTTL {
		return pass(fmt.Sprintf("up for %v, longer than any lock lives (%v)", up, p.MaxTTL))
	}
	detail := fmt.Sprintf("up for %v, locks may live for %v", up, p.MaxTTL)
	switch {
	case f.Server.AOF && f.Fsync == "always":
		return pass(detail + ", and it forgets nothing")
	case p.quarantined():
		return warn(detail, fmt.Sprintf("it may have forgotten locks: lockscope lets it vote in %v", (p.MaxTTL-up).Round(time.Second)))
	}
	return warn(detail, "it may have forgotten locks that are still held: do not lock on it yet")
}

func bytes(n int64) string {
	switch {
	case n == 0:
		return "0"
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d B", n)
}
