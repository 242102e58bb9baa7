package holders

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

func distinctionOfText(text string) Distinction {
	v := &keyreader.Value{Type: keyreader.String, Head: text[:min(len(text), keyreader.HeadSize)],
		Size: int64(len(text))}
	holder := Holder(v)
	return DistinctionOf(v, &holder)
}

func TestWhatTellsHoldersApart(t *testing.T) {
	for text, want := range map[string]Distinction{
		"": Indistinct, "1": Indistinct, "true": Indistinct, "locked": Indistinct, "1763800000": Indistinct,
		"web-3/4711": Indistinct, "locked-by-the-order-service": Indistinct, strings.Repeat("ab12", 20): Indistinct,
		strings.Repeat("a1B2c3D4", 100):                        Indistinct, // too long to be read as a whole
		"ip-10-0-3-217.eu-west-1.compute.internal:4711":        PerClient,
		"orders-7f9c8d5b6d-xk2lm":                              PerClient,
		"8743c9c0-0795-4907-87fd-6c719a6b4586":                 PerClient, // Spring
		"8743c9c0-0795-4907-87fd-6c719a6b4586:42":              PerClient,
		"8Q5xLzCgV2rEJwJ7yYtSIA==":                             PerLease, // redsync
		"hTYMdGE4tKPBgV8bdmV0Nw":                               PerLease, // redislock
		"2a8f0b6ce6f011ef9b1f0242ac120002":                     PerLease, // redis-py
		"ADDED:" + time.Now().Format(time.RFC3339Nano) + "@h1": PerLease,
	} {
		if got := distinctionOfText(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for _, fields := range [][][2]string{nil, {{"8743c9c0:42", "1"}}} {
		v := &keyreader.Value{Type: keyreader.Hash, Fields: fields}
		want := PerClient
		if fields == nil {
			want = Indistinct
		}
		if got := DistinctionOf(v, &inspect.Hold{}); got != want {
			t.Errorf("a hash with %v: %d, want %d", fields, got, want)
		}
	}
}

// TestRandomTokensAreRecognised: a token that is not recognised is only looked at more often, so a few may fail.
func TestRandomTokensAreRecognised(t *testing.T) {
	const tokens = 10_000
	for name, encode := range map[string]func([]byte) string{
		"hex": hex.EncodeToString, "base64": base64.StdEncoding.EncodeToString,
		"base64url": base64.RawURLEncoding.EncodeToString,
	} {
		missed, constant := 0, 0
		for range tokens {
			b := make([]byte, 16)
			_, _ = rand.Read(b)
			switch distinctionOfText(encode(b)) {
			case PerClient:
				missed++
			case Indistinct:
				constant++
			}
		}
		if missed > tokens/50 || constant > tokens/1000 {
			t.Errorf("%s: of %d tokens %d are not recognised, %d taken for constants", name, tokens, missed, constant)
		}
	}
}
