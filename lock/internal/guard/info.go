package lock

import (
	"strconv"
	"strings"
	"time"
)

// serverInfo is what the guard needs of INFO. Fields a server does not tell stay zero.
type serverInfo struct {
	runID     string
	uptime    time.Duration
	role      string
	policy    string
	maxMemory int64
	aof       bool
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
		case "aof_enabled":
			info.aof = value == "1"
		}
	}
	return info
}

// evicts reports whether the server may drop keys before their time.
func (i serverInfo) evicts() bool {
	return i.maxMemory > 0 && i.policy != "" && i.policy != "noeviction"
}
