package diagnosis

import (
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// ParseInfo reads the reply of INFO; unknown lines are ignored.
func ParseInfo(text string) Server {
	info := redisinfo.Parse(text)
	s := Server{
		RunID: info.RunID(), Incarnation: info.Incarnation(), Version: info["redis_version"], Mode: info["redis_mode"],
		Role:     info.Role(),
		Replicas: int(info.Number("connected_slaves")), Uptime: info.Uptime(),
		Policy: info["maxmemory_policy"], MaxMemory: info.Number("maxmemory"), UsedMemory: info.Number("used_memory"),
		EvictedKeys: info.EvictedKeys(), Eviction: info.Eviction(),
		AOF: info["aof_enabled"] == "1", AOFError: info["aof_last_write_status"] == "err",
		Loading: info["loading"] == "1", NoSections: missingSections(text),
	}
	_, s.CountsEvicted = info["evicted_keys"]
	if v := info["valkey_version"]; v != "" {
		s.Version += " (Valkey " + v + ")"
	}
	return s
}

// missingSections are those that a reply without one has not. An empty reply has none to miss.
func missingSections(text string) (missing []string) {
	if text == "" {
		return nil
	}
	for _, name := range []string{"Server", "Memory", "Persistence", "Stats", "Replication"} {
		if !strings.Contains(text, "# "+name) {
			missing = append(missing, name)
		}
	}
	return missing
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
