package diagnosis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

func checkVersion(f Facts, p Policy) inspect.Result {
	s := f.Server
	big, small := major(s.Version)
	switch {
	case s.Mode == "sentinel":
		return inspect.Failed("a Sentinel, not a data server",
			"use --sentinel-master NAME, or give the data servers")
	case s.Loading:
		return inspect.Failed(s.Version+", still loading its data",
			"wait until it is done: it refuses every command until then")
	case s.Mode == "cluster" && p.Single == "":
		return inspect.Warned(s.Version+", a member of a Redis Cluster",
			"it redirects most keys: use --cluster, or standalone servers")
	case big == 0:
		return inspect.Warned("unknown version "+s.Version, "lockscope is tested with Redis 7.0")
	case big < 5:
		return inspect.Failed(s.Version, "upgrade: the scripts need Redis 5 or later")
	case big < 6 || big == 6 && small < 2:
		return inspect.Warned(s.Version, "it gets no security fixes any more: upgrade")
	}
	return inspect.Passed(s.Version)
}

func checkRole(f Facts, _ Policy) inspect.Result {
	switch {
	case !f.Server.knownRole():
		return inspect.Warned("unknown", "see the guard check")
	case f.Server.Role == "slave":
		return inspect.Failed("a replica", "give its master: a replica loses what is written to it")
	case f.Server.Replicas > 0:
		return inspect.Warned("master with "+inspect.Count(f.Server.Replicas, "replica"),
			"a promoted replica lacks the last locks: do not fail over automatically, or treat it as a restart "+
				"without data")
	}
	return inspect.Passed("master")
}

func checkEviction(f Facts, p Policy) inspect.Result {
	s := f.Server
	detail := fmt.Sprintf("maxmemory-policy %s, maxmemory %s", s.Policy, bytes(s.MaxMemory))
	const remedy = "set maxmemory-policy noeviction, by CONFIG SET and in redis.conf"
	switch {
	case s.Eviction == redisinfo.EvictionUnknown:
		return inspect.Warned("unknown: INFO has no maxmemory_policy or no maxmemory",
			"make sure that the server evicts nothing: see the guard check")
	case s.Eviction == redisinfo.EvictionOn && (p.Guard.EvictingNodes || p.Guard.WithoutGuard):
		return inspect.Warned(detail, "another process can take an evicted lock, which you accept: "+remedy)
	case s.Eviction == redisinfo.EvictionOn:
		return inspect.Failed(detail, "another process can take an evicted lock, so lockscope refuses this node: "+remedy)
	case s.Policy != "noeviction":
		return inspect.Warned(detail+" (unlimited)", "it would evict locks as soon as somebody sets maxmemory: "+remedy)
	case s.MaxMemory > 0 && s.UsedMemory > s.MaxMemory/10*9:
		return inspect.Warned(fmt.Sprintf("%s, %s used", detail, bytes(s.UsedMemory)),
			"free some memory: nobody can take a lock once it is full")
	}
	return inspect.Passed(detail)
}

func checkEvicted(f Facts, p Policy) inspect.Result {
	n := f.Server.EvictedKeys
	keys := inspect.Count(n, "key")
	switch {
	case !f.Server.CountsEvicted:
		return inspect.Warned("unknown: INFO has no evicted_keys", "see the guard check")
	case n == 0:
	case p.quarantined() && f.Marker.State == stored.MarkerVoting:
		return inspect.Passed(keys + " evicted since its start; it waited out a quarantine after the last")
	default:
		return inspect.Warned(keys+" evicted since its start",
			"locks may have been among them: see the eviction check")
	}
	return inspect.Passed("nothing evicted since its start")
}

// checkPersistence: what a restart keeps. It decides nothing about the quarantine: the
// disk may have been another one, and its last writes may be missing.
func checkPersistence(f Facts, p Policy) inspect.Result {
	const always = "set appendonly yes and appendfsync always, by CONFIG SET and in redis.conf"
	s := f.Server
	switch {
	case slices.Contains(s.NoSections, "Persistence"):
		return inspect.Warned("unknown: INFO has no section Persistence", "find out what a restart keeps: for locks "+always)
	case s.AOF && s.AOFError:
		return inspect.Failed("appendonly yes, but the last write to the file failed",
			"check whether the disk is full: locks may be forgotten and writes refused")
	case s.AOF && f.Fsync == "always":
		return inspect.Passed("appendonly yes, appendfsync always: a restart keeps locks and fence counters")
	case s.AOF && f.Fsync == "":
		return inspect.Warned("appendonly yes, appendfsync unreadable",
			"make sure that it is always, or grant +config|get to this user, so that doctor can check it; locks do "+
				"not need that right")
	}
	detail := "appendonly no: a restart forgets every lock and fence counter"
	if s.AOF {
		detail = fmt.Sprintf("appendonly yes, appendfsync %s: a crash forgets the last locks and fence counters",
			f.Fsync)
	}
	switch {
	case p.quarantined():
		return inspect.Warned(detail,
			fmt.Sprintf("lockscope lets the node wait %v after a restart before it votes, whatever it "+
				"remembers; for other libraries %s",
				inspect.Whole(RoundUp(redlock.Quarantine(p.MaxTTL))), always))
	case s.AOF:
		return inspect.Warned(detail, "with fewer than three nodes this permits a second holder, unless the services use "+
			"WithRestartQuarantine: "+always)
	}
	return inspect.Failed(detail, "with fewer than three nodes this permits a second holder, unless the services use "+
		"WithRestartQuarantine: "+always)
}

// checkUptime: locks that a server forgot when it started may still be valid. What it
// keeps on disk changes nothing about that. Of three nodes or more the marker decides.
func checkUptime(f Facts, p Policy) inspect.Result {
	left := QuarantineLeft(f.Server.Uptime, p.MaxTTL)
	detail := fmt.Sprintf("started %v ago", f.Server.Uptime)
	_, ofChange := f.LeftOfChange(p, p.now)
	switch {
	case p.quarantined(), ofChange:
		return inspect.Passed(detail)
	case left == 0:
		return inspect.Passed(fmt.Sprintf("%s: no earlier lock can still be valid (they live for at most %s)", detail,
			inspect.Whole(p.MaxTTL)))
	case p.Single == "cluster":
		return inspect.Warned(fmt.Sprintf("%s: locks that it may have forgotten can be valid for another %v", detail,
			inspect.Whole(RoundUp(left))),
			"nodes of a Redis Cluster vote at once, so two leases can be valid until then: "+
				"protect your data with fencing tokens")
	case f.Marker.State == stored.MarkerVoting:
		return inspect.Passed(detail + ", and vouched for as new: it votes")
	}
	return inspect.Warned(fmt.Sprintf("%s: it votes, but locks that it may have forgotten can be valid for another %v", detail,
		inspect.Whole(RoundUp(left))),
		"two leases can be valid until then: wait, or use WithRestartQuarantine, with which fewer than three nodes "+
			"wait, too")
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

// mostUseful is how many nodes make a lock safer by what they cost.
const mostUseful = 9

func checkConnection(f Facts, _ Policy) inspect.Result {
	if f.Err == nil {
		return inspect.Passed("connected")
	}
	return inspect.Failed(f.Err.Error(), ui.ConnectionAdvice(f.Err))
}

func checkCount(facts []Facts, p Policy) []inspect.Result {
	return []inspect.Result{judgeCount(len(facts), len(reached(facts)), p)}
}

func judgeCount(n, up int, p Policy) inspect.Result {
	quorum := n/2 + 1
	detail := fmt.Sprintf("%s: a quorum is %d, %d may fail", inspect.Count(n, "node"), quorum, n-quorum)
	switch {
	case p.Single != "":
		return inspect.Warned(fmt.Sprintf("one %s counts as one node", p.Single),
			"a promoted replica may lack the last locks: protect your data with fencing tokens, or use "+
				"independent masters")
	case up < quorum:
		return inspect.Failed(fmt.Sprintf("%s, but only %d can be reached", detail, up),
			"nobody can take a lock now: repair the connections first")
	case n == 1:
		return inspect.Warned("1 node", "while it is down nobody can take a lock, and a restart that loses data permits a "+
			"second holder: use three")
	case n%2 == 0:
		return inspect.Warned(detail, fmt.Sprintf("%d nodes tolerate no more failures than %d: add or remove one", n, n-1))
	case n > mostUseful:
		return inspect.Warned(detail, "more than nine nodes make locks slower and hardly safer: use nine or fewer")
	case up < n:
		return inspect.Warned(fmt.Sprintf("%s, %d cannot be reached", detail, n-up),
			"locks still work: repair it before another one fails")
	}
	return inspect.Passed(detail)
}

func checkAddresses(facts []Facts, _ Policy) []inspect.Result {
	return shared(facts, func(f Facts) string { return f.Address }, "every node has its own address",
		func(address string, nodes []string) inspect.Result {
			return inspect.Failed(fmt.Sprintf("%s is given %d times", address, len(nodes)),
				"give each server once: its vote would count twice")
		})
}

func checkRunIDs(facts []Facts, _ Policy) []inspect.Result {
	return shared(facts, func(f Facts) string { return f.Server.RunID }, "every node is a separate server",
		func(_ string, nodes []string) inspect.Result {
			return inspect.Failed(strings.Join(nodes, " and ")+" are the same server",
				"give each server once: through a proxy or a DNS name, two addresses may reach the same one")
		})
}

func checkMachines(facts []Facts, p Policy) []inspect.Result {
	if p.Single != "" || len(facts) < 2 {
		return nil
	}
	host := func(f Facts) string { return strings.Join(f.Hosts[:min(len(f.Hosts), 1)], "") }
	return shared(facts, host, "every node has its own IP address", func(host string, nodes []string) inspect.Result {
		return inspect.Warned(fmt.Sprintf("%d nodes are at %s", len(nodes), host),
			"if that is one machine, they fail together and count as one node: spread them")
	})
}

// shared reports everything that more than one node has, else that all is well. A node for which it is unknown has "".
func shared(facts []Facts, of func(Facts) string, well string,
	bad func(key string, nodes []string) inspect.Result) (results []inspect.Result) {
	by := make(map[string][]string)
	for _, f := range facts {
		if key := of(f); key != "" {
			by[key] = append(by[key], f.Node)
		}
	}
	for key, nodes := range by {
		if len(nodes) > 1 {
			results = append(results, bad(key, nodes))
		}
	}
	slices.SortFunc(results, func(a, b inspect.Result) int { return strings.Compare(a.Detail, b.Detail) })
	if len(results) == 0 && len(by) > 0 {
		return []inspect.Result{inspect.Passed(well)}
	}
	return results
}

// major returns the first two numbers of a version such as 7.0.15.
func major(version string) (major, minor int) {
	parts := strings.SplitN(version, ".", 3)
	major, _ = strconv.Atoi(parts[0])
	if len(parts) > 1 {
		minor, _ = strconv.Atoi(parts[1])
	}
	return major, minor
}
