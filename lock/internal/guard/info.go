package guard

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// serverInfo is what the guard needs of INFO. Fields a server does not tell stay zero.
type serverInfo struct {
	runID     string
	uptime    time.Duration // whole seconds; see age
	role      string
	policy    string
	maxMemory int64
}

// parseInfo reads the reply of INFO; unknown lines are ignored.
func parseInfo(text string) serverInfo {
	var info serverInfo
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		switch key {
		case "run_id":
			info.runID = value
		case "uptime_in_seconds":
			if s, err := strconv.ParseInt(value, 10, 32); err == nil && s > 0 {
				info.uptime = time.Duration(s) * time.Second
			}
		case "role":
			info.role = value
		case "maxmemory_policy":
			info.policy = value
		case "maxmemory":
			info.maxMemory, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	return info
}

// MasterID is the run id of a master, by its reply to INFO. For anything else the
// error says what it is.
func MasterID(text string) (runID string, err error) {
	info := parseInfo(text)
	return info.runID, info.isMaster()
}

func (i serverInfo) isMaster() error {
	switch {
	case i.runID == "" || i.role == "":
		return fmt.Errorf("%w: INFO tells no run_id or no role, as a proxy's may: name the server itself, or use WithoutGuard", driver.ErrUnexamined)
	case i.role == "slave":
		return fmt.Errorf("%w: name its master, or use a Sentinel client", driver.ErrReplica)
	}
	return nil
}

// age is how long the server has been running at least. Redis tells the difference
// of two instants, each rounded down to a second, which can exceed the truth by
// almost a second.
func (i serverInfo) age() time.Duration { return max(0, i.uptime-time.Second) }

// evicts reports whether the server may drop keys before their time.
func (i serverInfo) evicts() bool {
	return i.maxMemory > 0 && i.policy != "" && i.policy != "noeviction"
}
