package servers

import (
	"strings"
	"testing"
)

// FuzzServers: the list of servers has passwords, which no error shows.
func FuzzServers(f *testing.F) {
	f.Add("redis://app:", "@r1:6379/0\n# r2\n[::1]:6379\n/run/redis.sock")
	f.Add("r1:6379,", "x@h:1")
	f.Add("rediss://u:p?db=", "&protocol=9")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "Tr0ub4dor"
		lines, err := readLines(strings.NewReader(before + secret + after))
		if err != nil {
			return // a line of more than 64 KiB
		}
		for _, line := range lines {
			if err := CheckURL(line); err != nil && strings.Contains(err.Error(), secret) {
				t.Fatalf("the secret is in %v", err)
			}
		}
	})
}
