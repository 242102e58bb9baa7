package lock

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParseAcquire(t *testing.T) {
	for _, c := range []struct {
		reply any
		want  AcquireReply
		err   error
	}{
		{[]any{int64(1), int64(42)}, AcquireReply{Granted: true, Counter: 42}, nil},
		{[]any{int64(0), int64(1500), "h|1|", int64(7), int64(2)}, AcquireReply{TTL: 1500 * time.Millisecond, Holder: "h|1|", Ticket: 7, Ahead: 2}, nil},
		{[]any{int64(0), int64(-1), "", int64(0), int64(0)}, AcquireReply{TTL: -time.Millisecond}, nil},
		{[]any{int64(2), int64(40), "", int64(0), int64(0)}, AcquireReply{Reserved: true, TTL: 40 * time.Millisecond}, nil},
		{[]any{int64(3)}, AcquireReply{}, ErrTombstone},
		{[]any{int64(1), int64(0)}, AcquireReply{}, ErrBadReply},
		{[]any{int64(0), "x", "", int64(0), int64(0)}, AcquireReply{}, ErrBadReply},
		{[]any{}, AcquireReply{}, ErrBadReply},
		{nil, AcquireReply{}, ErrBadReply},
		{"OK", AcquireReply{}, ErrBadReply},
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
	for _, s := range []string{`[1,42]`, `[0,1500,"h|1|",7,2]`, `[2,-9,"",0,0]`, `[3]`, `[]`, `"OK"`, `1`, `-1`, `[1,[1]]`, `[0,9e18,"",1,1]`} {
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
		if r, err := parseRelease(v); err == nil && r.Outcome == "" {
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

func TestNodeFaultDropsArguments(t *testing.T) {
	token := newToken()
	err := nodeFault(serverReply("ERR unknown command 'evalsha', with args beginning with: 'abc' '5' 'lock:a' '" + token + "'"))
	if strings.Contains(err.Error(), token) || !strings.Contains(err.Error(), "unknown command 'evalsha'") {
		t.Errorf("got %q", err)
	}
	if !isPermanent(err) {
		t.Errorf("%q would be tried again", err)
	}
}
