package diagnosis

import "testing"

func FuzzParseInfo(f *testing.F) {
	f.Add("# Server\r\nredis_version:7.0.15\r\nrun_id:35987cf26a6d527d86841db1e4a512ba531f1b43\r\n" +
		"uptime_in_seconds:17\r\n" +
		"# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n# Stats\r\nevicted_keys:0\r\n" +
		"# Replication\r\nrole:master\r\n")
	f.Add("redis_version:7..x\nvalkey_version:8.1\nuptime_in_seconds:-9223372036854775808\n" +
		"connected_slaves:99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		s := ParseInfo(text)
		if s.Uptime < 0 {
			t.Fatalf("%q: up for %v", text, s.Uptime)
		}
		_, _ = major(s.Version)
	})
}
