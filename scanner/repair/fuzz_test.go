package repair_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner/repair"
)

// FuzzRead: a plan comes from a file that people may have edited.
func FuzzRead(f *testing.F) {
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	p := repair.Plan{Schema: repair.Schema, Created: at, Expires: at.Add(repair.Life), Operator: "ada",
		Servers: []string{"r1:6379"}, Patterns: []string{"lock:*"}, Steps: []repair.Step{{
			Node: "r1:6379", Key: "lock:a", KeyBase64: "bG9jazph", Class: "no_ttl", Type: "string", Action: "expire=1h",
			FirstSeen: at, LastSeen: at,
		}}}.Sealed()
	text, err := json.Marshal(p)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(bytes.Replace(text, []byte("expire=1h"), []byte("delete"), 1))
	f.Add([]byte(`{"schema":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := repair.Read(bytes.NewReader(text))
		if err != nil {
			if !errors.Is(err, repair.ErrInvalidPlan) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if !p.Intact() {
			t.Fatalf("%q was read, and is not intact", text)
		}
	})
}

func FuzzParseAction(f *testing.F) {
	f.Add("expire=1h")
	f.Add("delete")
	f.Add("expire=-1ns")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := repair.ParseAction(text)
		if err != nil {
			return
		}
		if again, err := repair.ParseAction(a.String()); err != nil || again != a {
			t.Fatalf("%q is %v, read again %v, %v", text, a, again, err)
		}
		if !a.Deletes() && a.After() <= 0 {
			t.Fatalf("%q expires a key after %v", text, a.After())
		}
	})
}
