package scripts

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

func TestParseAcquire(t *testing.T) {
	for _, c := range []struct {
		reply any
		want  driver.AcquireReply
		err   error
	}{
		{int64(42), driver.AcquireReply{Granted: true, Counter: 42, Run: 1}, nil},
		{[]any{int64(1), int64(42), int64(8)}, driver.AcquireReply{Granted: true, Counter: 42, Run: 8}, nil},
		{[]any{int64(0), int64(1500), "h|1|", int64(7), int64(2)},
			driver.AcquireReply{TTL: 1500 * time.Millisecond, Holder: "h|1|", Ticket: 7, Ahead: 2}, nil},
		{[]any{int64(0), int64(-1), "", int64(0), int64(0)}, driver.AcquireReply{TTL: -time.Millisecond}, nil},
		{[]any{int64(2), int64(40), "", int64(0), int64(0)}, driver.AcquireReply{Reserved: true,
			TTL: 40 * time.Millisecond}, nil},
		{[]any{int64(3)}, driver.AcquireReply{}, driver.ErrTombstone},
		{[]any{int64(4)}, driver.AcquireReply{}, driver.ErrFenceCounter},
		{[]any{int64(5), "voting|..."}, driver.AcquireReply{}, driver.ErrQuarantined},
		{[]any{int64(5), "voting|..."}, driver.AcquireReply{}, driver.ErrNotSent},
		{int64(0), driver.AcquireReply{}, driver.ErrBadReply},
		{[]any{int64(1), int64(42), int64(0)}, driver.AcquireReply{}, driver.ErrBadReply},
		{[]any{int64(1), int64(42), "x"}, driver.AcquireReply{}, driver.ErrBadReply},
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

// FuzzReplies feeds the parsers with anything a server could send, as JSON whose whole numbers become the int64 of a
// Redis reply.
func FuzzReplies(f *testing.F) {
	for _, s := range []string{`[7,"ops@host|1763700000123|disk swap"]`, `[6,"5"]`,
		`[5,"voting|1:60000:667bcfbb7f80|a|0"]`,
		`[1,"",1500,"42","h|1|","0f"]`, `[2,"",9e18]`, `[3,"x",-1]`, `[0,""]`,
		`[1,42,1]`, `42`, `[5,"x"]`, `[0,"x",3]`, `[0,1500,"h|1|",7,2]`, `[2,-9,"",0,0]`, `[3]`,
		`[1,1500,"42","h|1|"]`, `[]`, `"OK"`, `1`, `-1`, `[1,[1]]`, `[0,9e18,"",1,1]`} {
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
		if r, err := ParseRelease(v); err == nil && (r.Found < driver.FoundNothing || r.Found > driver.FoundOther) {
			t.Fatalf("ParseRelease(%v) = %+v", v, r)
		}
		if a, err := parseQuarantine(v); err == nil && (a.Left > 0) != (a.Code == guard.AnswerQuarantined) {
			t.Fatalf("parseQuarantine(%v) = %+v", v, a)
		}
		if reply, err := parseExtend(v); err == nil && (reply < driver.ExtendGone || reply > driver.ExtendNoSlot) {
			t.Fatalf("parseExtend(%v) = %v", v, reply)
		}
		if r, err := parsePeek(v); err == nil && !r.Held && r != (driver.PeekReply{}) {
			t.Fatalf("parsePeek(%v) = %+v", v, r)
		}
		if code, err := parseCode(v, -1, 2); err == nil && (code < -1 || code > 2) {
			t.Fatalf("parseCode(%v) = %d", v, code)
		}
		for _, req := range []*driver.RevokeRequest{{}, {Grant: "a"}, {Readers: []string{"a", "b"}}} {
			r, err := parseRevoke(req, v)
			if err == nil && (r.TTL < -time.Millisecond || r.ByReaders && (!r.Held || len(r.Readers) == 0)) {
				t.Fatalf("parseRevoke(%v) = %+v", v, r)
			}
		}
		if n, err := parseResize(v); err == nil && n < 0 {
			t.Fatalf("parseResize(%v) = %v", v, n)
		}
		if n, err := otherSlots(v); n < 0 || err != nil && n != 0 {
			t.Fatalf("otherSlots(%v) = %d, %v", v, n, err)
		}
		_ = revokedReply(v)
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
