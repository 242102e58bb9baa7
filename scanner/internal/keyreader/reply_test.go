package keyreader

import (
	"encoding/json"
	"testing"
	"time"
)

// TestBadReplies: answers that none of our scripts gives.
func TestBadReplies(t *testing.T) {
	for _, reply := range []any{
		nil, "", []any{}, []any{"0", int64(1)}, []any{int64(0), int64(1), []any{}}, []any{"0", "1", []any{}},
		[]any{"0", int64(1), []any{"x"}},
		[]any{"0", int64(1), []any{[]any{"k", int64(-1), "string"}}},
		[]any{"0", int64(1), []any{[]any{"k", "-1", "string", int64(0), ""}}},
		[]any{"0", int64(1), []any{[]any{"k", int64(-1), "string", int64(0), int64(7)}}},
	} {
		if _, err := parsePage(reply); err == nil {
			t.Errorf("%v: no error", reply)
		}
	}
}

// FuzzPage reads what a server, a proxy, or a script of somebody else may answer, as JSON whose whole numbers become
// the int64 of a Redis reply.
func FuzzPage(f *testing.F) {
	for _, s := range []string{
		`["0",3,[["lock:backup",9000,"string",60,` +
			`"e9d69a0860df7e427ae4cb030e86d89a:1795697208763505|vm/23261|1795697208763|"]]]`,
		`["17",10,[["lock:doc",-1,"hash",1,"e9d69a0860df7e427ae4cb030e86d89a","9223372036854775807:5|a|1|"]]]`,
		`["0",1,[["k",9e18,"hash",2,"a","1","b","2"],["k",5,"hash",9,"x"],["k",-2,"none",0]]]`, `["0",1,[]]`, `[]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		page, err := parsePage(asReply(v))
		if err != nil {
			return
		}
		for i := range page.Values {
			v := &page.Values[i]
			if v.TTL < Never || v.Identity() == "" && v.Type != "" {
				t.Fatalf("%s: TTL %v, identity %q", text, v.TTL, v.Identity())
			}
			for _, r := range v.ReadLeases() {
				if r.Left < Never || r.Left > time.Duration(1<<62) && v.TTL == Never {
					t.Fatalf("%s: a reader has %v left", text, r.Left)
				}
				_ = v.Only(&r).Identity()
			}
		}
	})
}

func asReply(v any) any {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case []any:
		for i := range v {
			v[i] = asReply(v[i])
		}
	}
	return v
}

// FuzzMatches compares with the plain recursion that the specification suggests.
func FuzzMatches(f *testing.F) {
	f.Add("lock:*[a-c]?", "lock:xbz")
	f.Add("[^a-", "b")
	f.Add("a\\", "a\\")
	f.Add("[]", "]")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if len(pattern) > 16 || len(s) > 16 {
			return
		}
		if got, want := Matches(pattern, s), plainly(pattern, s); got != want {
			t.Fatalf("Matches(%q, %q) = %v", pattern, s, got)
		}
	})
}

func plainly(pattern, s string) bool {
	if pattern == "" {
		return s == ""
	}
	if pattern[0] == '*' {
		return plainly(pattern[1:], s) || s != "" && plainly(pattern, s[1:])
	}
	if s == "" {
		return false
	}
	matched, width := globElement(pattern, s[0])
	return matched && plainly(pattern[width:], s[1:])
}
