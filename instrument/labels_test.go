package instrument

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for name, want := range map[string]string{
		"order:1001":                            "order:*",
		"order:1001:refund":                     "order:*:refund",
		"order":                                 "order",
		"v2/users/42/locks":                     "v2/users/*/locks",
		"shard-07":                              "shard-*",
		"s3:bucket_a":                           "s3:bucket_a",
		"feedface:facade":                       "feedface:facade",
		"blob:deadbeef01":                       "blob:*",
		"cart:9f86d081884c7d659a2feaa0c55ad015": "cart:*",
		"user:550e8400-e29b-41d4-a716-446655440000":      "user:*",
		"user:550E8400-E29B-41D4-A716-446655440000:mail": "user:*:mail",
		"cus_NffrFeUfNV2Hib":                             "cus_*",
		"job:01ARZ3NDEKTSV4RRFFQ69G5FAV":                 "job:*",
		"mongo:507f1f77bcf86cd799439011":                 "mongo:*",
		"nightly-invoice-reconciliation":                 "nightly-invoice-reconciliation",
		"ß / ü":                                          "ß / ü",
		"":                                               "",
		"x:" + strings.Repeat("a", 40):                   "x:*",
		strings.Repeat("ab:", 60):                        strings.Repeat("ab:", 60)[:maxLabel],
	} {
		if got := string(fold(nil, name)); got != want {
			t.Errorf("fold(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestLookUpDoesNotAllocate keeps the label out of the cost of an Acquire.
func TestLookUpDoesNotAllocate(t *testing.T) {
	l := &Locker{metrics: newMetrics(10, false)}
	l.seriesOf("order:1001")
	if n := testing.AllocsPerRun(100, func() { l.seriesOf("order:1002") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFold(f *testing.F) {
	f.Add("order:1001")
	f.Add("550e8400-e29b-41d4-a716-446655440000")
	f.Fuzz(func(t *testing.T, name string) {
		label := fold(nil, name)
		if len(label) > maxLabel || len(label) > len(name) {
			t.Errorf("fold(%q) = %q", name, label)
		}
		if len(name) <= maxLabel && string(fold(nil, string(label))) != string(label) {
			t.Errorf("fold(%q) = %q is folded again", name, label)
		}
	})
}
