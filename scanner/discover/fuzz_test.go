package discover

import (
	"testing"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// FuzzRecognise: names and values of any program's keys.
func FuzzRecognise(f *testing.F) {
	f.Add("lock:backup", "e9d69a0860df7e427ae4cb030e86d89a:1795697208763505|vm/23261|1795697208763|", "", "")
	f.Add("job-lock:default:nightly", "ADDED:2026-11-21T18:00:00.005Z@batch-7:"+
		"b0f2e4a5-f1c7-4bf9-8f35-77b34da6a3ce", "", "")
	f.Add("anyLock", "", "285475da-9152-4c83-822a-67ee2f116a79:52", "1")
	f.Add("laravel_cache_framework/schedule-1", "i:1763748000;", "", "")
	f.Fuzz(func(t *testing.T, key, head, field, value string) {
		v := &keyreader.Value{Key: key, TTL: keyreader.Never, Type: keyreader.String, Size: int64(len(head)), Head: head}
		if field != "" {
			v.Type, v.Size, v.Head, v.Fields = keyreader.Hash, 1, "", [][2]string{{field, value}}
		}
		c, ok := recognise(&entry{Value: v})
		if ok && (c.library == "" || c.evidence == "") {
			t.Fatalf("%q is taken for a lock of %q because of %q", key, c.library, c.evidence)
		}
		if key == "" {
			return
		}
		if pattern := patternOf([]string{key}); !keyreader.Matches(pattern, key) {
			t.Fatalf("%q: its pattern is %q", key, pattern)
		}
		if field == "" {
			return
		}
		if keys := []string{key, firstPart(key) + field}; !keyreader.Matches(patternOf(keys), keys[1]) {
			t.Fatalf("%q: their pattern is %q", keys, patternOf(keys))
		}
	})
}
