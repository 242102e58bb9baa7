package keyreader

import "testing"

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
