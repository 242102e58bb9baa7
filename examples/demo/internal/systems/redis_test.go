package systems

import (
	"strings"
	"testing"
)

// TestReads names the user's servers without their passwords.
func TestReads(t *testing.T) {
	s := &redisNodes{prefix: "lock:demo:77aa:", urls: []string{
		"redis://10.0.0.1:6379", "redis://:secret@10.0.0.2:6379/1", "rediss://demo:secret@10.0.0.3:6379?a=b&c=it's"}}
	got := strings.Join(s.Reads(), " ")
	want := `--redis '10.0.0.1:6379,10.0.0.2:6379/1,rediss://demo@10.0.0.3:6379?a=b&c=it'\''s' --prefix lock:demo:77aa:`
	if got != want {
		t.Errorf("flags %s\nwant  %s", got, want)
	}
}
