package label

import (
	"math/rand/v2"
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
		// E-mail addresses.
		"user:alice@example.com":              "user:*",
		"mail:bob.o+tag@mail.example.co.uk:x": "mail:*:x",
		"alice@example.com":                   "*",
		"job@host":                            "job@host",
		"cache@v1.2":                          "cache@v1.*",
		"@example.com":                        "@example.com",
		// nanoid, ULID, KSUID, xid, cuid, base62.
		"cart:V1StGXR8_Z5jdHi6B-myT":        "cart:*",
		"tenant_V1StGXR8_Z5jdHi6B-myT/lock": "tenant_*/lock",
		"cart:-uStGXR8_Z5jdHi6B-my_":        "cart:*",
		"job:01arz3ndektsv4rrffq69g5fav":    "job:*",
		"0ujtsYcgvSTl8PAuAdqWYSMnLOv":       "*",
		"ksuid:aujtsYcgvSTlsPAuAdqWYSMnLOv": "ksuid:*",
		"b62:7n42DGM5Tflk9n8mt7Fhc7":        "b62:*",
		"xid:9m4e2mr0ui3e8a215n4g":          "xid:*",
		"cuid:cjld2cjxh0000qzrmn831i7rn":    "cuid:*",
		"getURLForUser":                     "getURLForUser",
		"InvoiceExportDailyRunner":          "InvoiceExportDailyRunner",
		"nightly-Invoice-Export":            "nightly-Invoice-Export",
		"orders_by_region_eu_w":             "orders_by_region_eu_w",
		"Shard07-EuWest-Primar":             "Shard07-EuWest-Primar",
		"x:" + strings.Repeat("a", 40):      "x:*",
		strings.Repeat("ab:", 60):           strings.Repeat("ab:", 60)[:MaxLength],
	} {
		if got := string(Fold(nil, name)); got != want {
			t.Errorf("Fold(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestFoldIsStable folds names made of parts of ids, and of their neighbours, twice.
func TestFoldIsStable(t *testing.T) {
	pieces := []string{"a", "b", "Z", "Q", "7", "0", "-", "_", "@", ".", "*", ":", "+", "é", "com",
		"V1StGXR8_Z5jdHi6B-myT", "550e8400-e29b-41d4-a716-446655440000", "a@b.de"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		var name strings.Builder
		for range 1 + random.IntN(24) {
			name.WriteString(pieces[random.IntN(len(pieces))])
		}
		if name.Len() > MaxLength {
			continue
		}
		once := string(Fold(nil, name.String()))
		if twice := string(Fold(nil, once)); twice != once || len(once) > name.Len() {
			t.Fatalf("Fold(%q) = %q, and then %q", name.String(), once, twice)
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("order:1001")
	f.Add("user:alice@example.com/V1StGXR8_Z5jdHi6B-myT")
	f.Add("550e8400-e29b-41d4-a716-446655440000")
	f.Fuzz(func(t *testing.T, name string) {
		label := Fold(nil, name)
		if len(label) > MaxLength || len(label) > len(name) {
			t.Errorf("Fold(%q) = %q", name, label)
		}
		if len(name) <= MaxLength && string(Fold(nil, string(label))) != string(label) {
			t.Errorf("Fold(%q) = %q is folded again", name, label)
		}
	})
}
