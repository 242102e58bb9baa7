// Package redisinfo parses the reply to INFO of a Redis server. It does not connect. It accepts what
// any server or proxy sends, and never panics. It is for lockscope's own packages: the guard, the
// scanner and the doctor.
package redisinfo

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Info is the reply to INFO, by field. Fields that the server does not report are missing.
type Info map[string]string

// Parse parses the reply to INFO. It ignores lines that are not fields.
func Parse(text string) Info {
	info := make(Info)
	for line := range strings.Lines(text) {
		if field, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			info[field] = value
		}
	}
	return info
}

// Number returns a field as a whole number; 0 if the field is missing or not a number.
func (i Info) Number(field string) int64 {
	n, err := strconv.ParseInt(i[field], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Ran reports whether the server has carried a command out since its process started, or since its
// statistics were reset. It is false if the server does not report that.
func (i Info) Ran(command string) bool {
	var calls, failed int64
	for field := range strings.SplitSeq(i["cmdstat_"+command], ",") {
		name, digits, _ := strings.Cut(field, "=")
		n, _ := strconv.ParseInt(digits, 10, 64)
		switch name {
		case "calls":
			calls = n
		case "failed_calls":
			failed = n
		}
	}
	return calls > failed
}

// RunID returns the ID of the server's process; "" if it is not reported.
func (i Info) RunID() string { return i["run_id"] }

// Role returns "master" or "slave", or a word that this package does not know; "" if it is not reported. Some
// servers call a replica one. An active replica of KeyDB accepts writes, and loses some of them to those of its
// master: it is no server of its own.
func (i Info) Role() string {
	switch role := i["role"]; role {
	case "replica", "active-replica":
		return "slave"
	default:
		return role
	}
}

// Uptime returns how long the process has been running, as Redis reports it: the difference of two
// times, each rounded down to a second. It can be almost a second too long; see [Info.Age]. It is 0 if
// the server reports no plausible number.
func (i Info) Uptime() time.Duration {
	seconds, err := strconv.ParseInt(i["uptime_in_seconds"], 10, 32)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// Age returns how long the process has been running, at least.
func (i Info) Age() time.Duration { return max(0, i.Uptime()-time.Second) }

// Eviction is whether a server may evict keys before they expire.
type Eviction int

// The values of Eviction. A server whose policy is unknown may evict keys.
const (
	EvictionUnknown Eviction = iota
	EvictionOff
	EvictionOn
)

// Eviction returns whether the server may evict keys. Without a memory limit no policy does.
func (i Info) Eviction() Eviction {
	policy := i["maxmemory_policy"]
	limit, err := strconv.ParseInt(i["maxmemory"], 10, 64)
	switch {
	case policy == "noeviction", policy != "" && err == nil && limit == 0:
		return EvictionOff
	case policy == "" || err != nil:
		return EvictionUnknown
	}
	return EvictionOn
}

// EvictedKeys returns how many keys the process has evicted.
func (i Info) EvictedKeys() int64 { return max(0, i.Number("evicted_keys")) }

// Incarnation identifies the server's memory: the run_id and, after a "+", the number of evicted keys
// if there are any. If it is the same twice, no key was lost in between by a restart or an eviction.
// It is "" if no run_id is reported.
func (i Info) Incarnation() string { return i.IncarnationOf(i.RunID()) }

// IncarnationOf is Incarnation for a server that has this identity instead of a run_id.
func (i Info) IncarnationOf(identity string) string {
	if n := i.EvictedKeys(); n > 0 && identity != "" {
		return identity + "+" + strconv.FormatInt(n, 10)
	}
	return identity
}

// Databases returns the numbers of the databases that have keys, the lowest first.
func (i Info) Databases() (all []int) {
	for field := range i {
		number, is := strings.CutPrefix(field, "db")
		if db, err := strconv.Atoi(number); is && err == nil {
			all = append(all, db)
		}
	}
	slices.Sort(all)
	return all
}

// Keyspace returns how many keys a database has, and how many of them expire. Both are 0 for an empty
// database, which has no line; keys is -1 if its line reports no number of keys. ok is false if the
// line cannot be parsed.
func (i Info) Keyspace(db int) (keys, expiring int64, ok bool) {
	line, there := i["db"+strconv.Itoa(db)]
	if !there {
		return 0, 0, true
	}
	keys = -1
	for field := range strings.SplitSeq(line, ",") {
		name, number, _ := strings.Cut(field, "=")
		n, err := strconv.ParseInt(number, 10, 64)
		switch {
		case err != nil:
			return 0, 0, false
		case name == "keys":
			keys = n
		case name == "expires":
			expiring = n
		}
	}
	return keys, expiring, true
}
