package doctor

import (
	"strconv"
	"strings"
	"time"
)

// ParseInfo reads the reply of INFO; unknown lines are ignored.
func ParseInfo(text string) Server {
	fields := make(map[string]string)
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			fields[key] = value
		}
	}
	number := func(key string) int64 {
		n, err := strconv.ParseInt(fields[key], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	s := Server{
		RunID: fields["run_id"], Version: fields["redis_version"], Mode: fields["redis_mode"], Role: fields["role"],
		Replicas: int(number("connected_slaves")), Uptime: time.Duration(number("uptime_in_seconds")) * time.Second,
		Policy: fields["maxmemory_policy"], MaxMemory: number("maxmemory"), UsedMemory: number("used_memory"),
		EvictedKeys: number("evicted_keys"),
		AOF:         fields["aof_enabled"] == "1", AOFError: fields["aof_last_write_status"] == "err",
		Loading: fields["loading"] == "1",
	}
	if v := fields["valkey_version"]; v != "" {
		s.Version += " (Valkey " + v + ")"
	}
	return s
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
