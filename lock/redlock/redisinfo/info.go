// Package redisinfo reads what a Redis server says of itself, in the reply of INFO. It
// connects to nothing, takes what any server or proxy sends, and never panics. It is for
// lockscope's own packages: the guard, the scanner and the doctor.
package redisinfo

import (
	"strconv"
	"strings"
	"time"
)

// Info is the reply of INFO, by field. A field that a server does not report is not there.
type Info map[string]string

// Parse reads the reply of INFO. Lines that are no field are ignored.
func Parse(text string) Info {
	info := make(Info)
	for line := range strings.Lines(text) {
		if field, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			info[field] = value
		}
	}
	return info
}

// Number is a field that is a whole number; 0 if it is not there, or none.
func (i Info) Number(field string) int64 {
	n, err := strconv.ParseInt(i[field], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// RunID names the server's process; "" where that is not reported.
func (i Info) RunID() string { return i["run_id"] }

// Role is "master" or "slave"; "" where that is not reported.
func (i Info) Role() string { return i["role"] }

// Uptime is how long the process has been running, as Redis reports it: the difference of
// two instants, each rounded down to a second. It can exceed the truth by almost a
// second; see Age. It is 0 where no believable number of seconds is reported.
func (i Info) Uptime() time.Duration {
	seconds, err := strconv.ParseInt(i["uptime_in_seconds"], 10, 32)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// Age is how long the process has been running at least.
func (i Info) Age() time.Duration { return max(0, i.Uptime()-time.Second) }

// Eviction is whether a server may drop keys before their time.
type Eviction int

// What a server says of it. One that does not say may well do it.
const (
	EvictionUnknown Eviction = iota
	EvictionOff
	EvictionOn
)

// Eviction is what the server says. A policy without a limit of memory drops nothing.
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

// EvictedKeys is how many keys the process has dropped for want of memory.
func (i Info) EvictedKeys() int64 { return max(0, i.Number("evicted_keys")) }

// Incarnation names the server's memory: its process, and after a "+" how many keys that
// process has evicted, if it has. Whoever has seen the same twice knows that no key was
// lost in between by a restart or for want of memory. It is "" where no run_id is reported.
func (i Info) Incarnation() string {
	if n := i.EvictedKeys(); n > 0 && i.RunID() != "" {
		return i.RunID() + "+" + strconv.FormatInt(n, 10)
	}
	return i.RunID()
}

// Keyspace is how many keys a database has, and how many of them expire: zeros for one
// without keys, which has no line, and -1 keys where the line reports none. ok is false if it
// is not understood.
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
