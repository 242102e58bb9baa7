package redlock

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

func TestParseAcquire(t *testing.T) {
	for _, c := range []struct {
		reply any
		want  driver.AcquireReply
		err   error
	}{
		{[]any{int64(1), int64(42), int64(7)}, driver.AcquireReply{Granted: true, Counter: 42, Run: 7}, nil},
		{[]any{int64(1), int64(42), int64(0)}, driver.AcquireReply{}, driver.ErrBadReply},
		{[]any{int64(0), int64(1500), "h|1|", int64(7), int64(2)}, driver.AcquireReply{TTL: 1500 * time.Millisecond, Holder: "h|1|", Ticket: 7, Ahead: 2}, nil},
		{[]any{int64(0), int64(-1), "", int64(0), int64(0)}, driver.AcquireReply{TTL: -time.Millisecond}, nil},
		{[]any{int64(2), int64(40), "", int64(0), int64(0)}, driver.AcquireReply{Reserved: true, TTL: 40 * time.Millisecond}, nil},
		{[]any{int64(3)}, driver.AcquireReply{}, driver.ErrTombstone},
		{[]any{int64(1), int64(0), int64(1)}, driver.AcquireReply{}, driver.ErrBadReply},
		{[]any{int64(0), "x", "", int64(0), int64(0)}, driver.AcquireReply{}, driver.ErrBadReply},
		{[]any{}, driver.AcquireReply{}, driver.ErrBadReply},
		{nil, driver.AcquireReply{}, driver.ErrBadReply},
		{"OK", driver.AcquireReply{}, driver.ErrBadReply},
	} {
		got, err := parseAcquire(c.reply)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("parseAcquire(%v) = %+v, %v; want %+v, %v", c.reply, got, err, c.want, c.err)
		}
	}
}

// FuzzReplies feeds the parsers whatever a server could send, as JSON whose whole
// numbers become the int64 of a Redis reply.
func FuzzReplies(f *testing.F) {
	for _, s := range []string{`[1,42,7]`, `[0,1500,"h|1|",7,2]`, `[2,-9,"",0,0]`, `[3]`, `[]`, `"OK"`, `1`, `-1`, `[1,[1]]`, `[0,9e18,"",1,1]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		v = asReply(v)
		if r, err := parseAcquire(v); err == nil && r.Granted == (r.Counter == 0) {
			t.Fatalf("parseAcquire(%v) = %+v", v, r)
		}
		if r, err := parseRelease(v); err == nil && (r.Found < driver.FoundNothing || r.Found > driver.FoundOther) {
			t.Fatalf("parseRelease(%v) = %+v", v, r)
		}
		if code, err := parseCode(v, -1, 2); err == nil && (code < -1 || code > 2) {
			t.Fatalf("parseCode(%v) = %d", v, code)
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
