package diagnosis

import (
	"fmt"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/quarantine"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

func checkVersion(f Facts, p Policy) Result {
	s := f.Server
	big, small := major(s.Version)
	switch {
	case s.Mode == "sentinel":
		return Failed("this is a Sentinel, not a server for data",
			"give --sentinel-master NAME, or the servers themselves")
	case s.Loading:
		return Failed(s.Version+", still loading its data", "wait until it has: it refuses every command")
	case s.Mode == "cluster" && p.Single == "":
		return Warned(s.Version+", a member of a Redis Cluster",
			"it redirects most keys: give --cluster, or standalone servers")
	case big == 0:
		return Warned("version "+s.Version+" is not understood", "lockscope is tested against Redis 7.0")
	case big < 5:
		return Failed(s.Version, "the scripts need Redis 5 or later")
	case big < 6 || big == 6 && small < 2:
		return Warned(s.Version, "no security fixes are made for it any more: upgrade")
	}
	return Passed(s.Version)
}

func checkRole(f Facts, _ Policy) Result {
	switch {
	case f.Server.Role == "" || f.Server.RunID == "":
		return Failed("INFO tells no role or no run_id, as a proxy's may",
			"lockscope lets such a node vote with WithoutGuard only: name the server itself")
	case f.Server.Role == "slave":
		return Failed("a replica", "name its master: what is written to a replica, or promised by it, is lost")
	case f.Server.Replicas > 0:
		return Warned(fmt.Sprintf("master with %d replicas", f.Server.Replicas),
			"promoting a replica loses the last locks: do not fail over automatically, or treat it as a restart without data")
	}
	return Passed("master")
}

func checkEviction(f Facts, _ Policy) Result {
	s := f.Server
	detail := fmt.Sprintf("maxmemory-policy %s, maxmemory %s", s.Policy, bytes(s.MaxMemory))
	const mend = "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf"
	switch {
	case s.Eviction == redisinfo.EvictionUnknown:
		return Failed("unknown: INFO tells no maxmemory_policy or no maxmemory",
			"lockscope refuses this node: make sure that it evicts nothing, then give the services WithEvictingNodes")
	case s.Eviction == redisinfo.EvictionOn:
		return Failed(detail, "an evicted lock is a second holder, so lockscope refuses this node: "+mend)
	case s.Policy != "noeviction":
		return Warned(detail+" (unlimited)", "locks would be evicted as soon as maxmemory is set: "+mend)
	case s.MaxMemory > 0 && s.UsedMemory > s.MaxMemory/10*9:
		return Warned(fmt.Sprintf("%s, %s used", detail, bytes(s.UsedMemory)),
			"when it is full no lock can be taken: make room")
	}
	return Passed(detail)
}

func checkEvicted(f Facts, p Policy) Result {
	n := f.Server.EvictedKeys
	switch {
	case n == 0:
	case p.quarantined() && f.Marker.State == redlock.MarkerVoting:
		return Passed(fmt.Sprintf("%d keys evicted since its start, and silent for a quarantine after the last", n))
	default:
		return Warned(fmt.Sprintf("%d keys evicted since its start", n),
			"locks may have been among them: see eviction above")
	}
	return Passed("nothing evicted since its start")
}

// checkPersistence: what a restart keeps. It decides nothing about the quarantine: the
// disk may have been another one, and its last writes may be missing.
func checkPersistence(f Facts, p Policy) Result {
	const always = "CONFIG SET appendonly yes and appendfsync always, and the same in redis.conf"
	s := f.Server
	switch {
	case s.AOF && s.AOFError:
		return Failed("appendonly yes, and the last write to the file failed",
			"is the disk full? Locks are not remembered and writes may be refused")
	case s.AOF && f.Fsync == "always":
		return Passed("appendonly yes, appendfsync always: a restart keeps locks and fence counters")
	case s.AOF && f.Fsync == "":
		return Warned("appendonly yes, appendfsync unknown: it cannot be read",
			"make sure that it is always, or grant +config|get to this user to have it checked: locks do not need that right")
	}
	detail := "appendonly no: a restart forgets every lock and fence counter"
	if s.AOF {
		detail = fmt.Sprintf("appendonly yes, appendfsync %s: a crash forgets the last locks and fence counters",
			f.Fsync)
	}
	switch {
	case p.quarantined():
		return Warned(detail, fmt.Sprintf("lockscope keeps the node from voting for %v after a restart, whatever it "+
			"remembers; other libraries do not: %s",
			quarantine.RoundUp(redlock.Quarantine(p.MaxTTL)), always))
	case s.AOF:
		return Warned(detail, "with fewer than three nodes nothing stops a second holder then, unless "+
			"WithRestartQuarantine is given: "+always)
	}
	return Failed(detail, "with fewer than three nodes nothing stops a second holder then, unless "+
		"WithRestartQuarantine is given: "+always)
}

// quarantined reports whether lockscope keeps restarted nodes silent.
func (p Policy) quarantined() bool { return p.nodes >= 3 && p.Single == "" }

// checkUptime: locks that a server forgot when it started may still be valid. What it
// keeps on disk changes nothing about that. Of three nodes or more the marker decides.
func checkUptime(f Facts, p Policy) Result {
	left := quarantine.Left(f.Server.Uptime, p.MaxTTL)
	detail := fmt.Sprintf("started %v ago", f.Server.Uptime)
	switch {
	case p.quarantined():
		return Passed(detail)
	case left == 0:
		return Passed(fmt.Sprintf("%s: no lock from before can be valid (they live for %v at most)", detail, p.MaxTTL))
	case p.Single == "cluster":
		return Warned(fmt.Sprintf("%s: locks it may have forgotten can be valid for another %v", detail,
			quarantine.RoundUp(left)),
			"in a Redis Cluster nodes vote at once: two leases can be valid until then, "+
				"so protect what matters by fencing tokens")
	case f.Marker.State == redlock.MarkerVoting:
		return Passed(detail + ", and vouched for as new: it votes")
	}
	return Warned(fmt.Sprintf("%s: it votes, and locks it may have forgotten can be valid for another %v", detail,
		quarantine.RoundUp(left)),
		"two leases can be valid until then: do not lock on it yet; WithRestartQuarantine keeps fewer than three nodes "+
			"silent, too")
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
