package claims

import (
	"slices"
	"testing"
	"time"
)

// FuzzRecord: the data of a claim may be that of Curator, or anything.
func FuzzRecord(f *testing.F) {
	f.Add([]byte("10000/12000|vm/23261|1795697208763||5186603778d7097c.1"), int64(1795697208763))
	f.Add([]byte("10000/12000|vm/23261|1795697208763|\n1795697208763|ops@host|1763700000123|disk swap"), int64(1))
	f.Add([]byte("9223372036854775807/-1|a|1|\n|"), int64(0))
	f.Add([]byte("192.168.1.7"), int64(-1))
	f.Fuzz(func(t *testing.T, data []byte, written int64) {
		s := parse(data, written)
		if s.ttl < 0 || s.session < 0 || s.holder == "" && s != (stored{}) {
			t.Fatalf("parse(%q) = %+v", data, s)
		}
	})
}

// FuzzNames: anybody may make nodes beside the claims of a queue.
func FuzzNames(f *testing.F) {
	f.Add("_c_0d9ba0f2e4a5f1c7-lock-0000000017", "_c_0d9ba0f2e4a5f1c7-read-lock-0000000018")
	f.Add("lock-2147483648", "lock--000000001")
	f.Add("a", "lock")
	f.Fuzz(func(t *testing.T, a, b string) {
		queue := queueOf([]string{a, b})
		if !slices.IsSortedFunc(queue, func(a, b string) int {
			x, _ := seqOf(a)
			y, _ := seqOf(b)
			return int(x - y)
		}) {
			t.Fatalf("%q, %q make the queue %q", a, b, queue)
		}
		for _, name := range queue {
			if seq, _ := seqOf(name); seq < 0 {
				t.Fatalf("%q is claim %d", name, seq)
			}
		}
		if r := record(time.Second, time.Second, a); len(r) == 0 {
			t.Fatal("no record")
		}
		_, _ = escape(a), isReader(b)
	})
}
