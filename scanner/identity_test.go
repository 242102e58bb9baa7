package scanner

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

func distinctionOfText(text string) distinction {
	v := &keyreader.Value{Type: keyreader.String, Head: text[:min(len(text), keyreader.HeadSize)], Size: int64(len(text))}
	hold := holdOf(v)
	return distinctionOf(v, &hold)
}

func TestWhatTellsHoldersApart(t *testing.T) {
	for text, want := range map[string]distinction{
		"": indistinct, "1": indistinct, "true": indistinct, "locked": indistinct, "1763800000": indistinct,
		"web-3/4711": indistinct, "locked-by-the-order-service": indistinct, strings.Repeat("ab12", 20): indistinct,
		strings.Repeat("a1B2c3D4", 100):                        indistinct, // not read as a whole
		"ip-10-0-3-217.eu-west-1.compute.internal:4711":        perClient,
		"orders-7f9c8d5b6d-xk2lm":                              perClient,
		"8743c9c0-0795-4907-87fd-6c719a6b4586":                 perClient, // Spring
		"8743c9c0-0795-4907-87fd-6c719a6b4586:42":              perClient,
		"8Q5xLzCgV2rEJwJ7yYtSIA==":                             perHold, // redsync
		"hTYMdGE4tKPBgV8bdmV0Nw":                               perHold, // redislock
		"2a8f0b6ce6f011ef9b1f0242ac120002":                     perHold, // redis-py
		"ADDED:" + time.Now().Format(time.RFC3339Nano) + "@h1": perHold,
	} {
		if got := distinctionOfText(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for _, fields := range [][][2]string{nil, {{"8743c9c0:42", "1"}}} {
		v := &keyreader.Value{Type: keyreader.Hash, Fields: fields}
		want := perClient
		if fields == nil {
			want = indistinct
		}
		if got := distinctionOf(v, &Hold{}); got != want {
			t.Errorf("a hash with %v: %d, want %d", fields, got, want)
		}
	}
}

// TestRandomTokensAreRecognised: what is not is looked at more often, and so this need not be all of them.
func TestRandomTokensAreRecognised(t *testing.T) {
	const tokens = 10_000
	for name, encode := range map[string]func([]byte) string{
		"hex": hex.EncodeToString, "base64": base64.StdEncoding.EncodeToString, "base64url": base64.RawURLEncoding.EncodeToString,
	} {
		missed, constant := 0, 0
		for range tokens {
			b := make([]byte, 16)
			_, _ = rand.Read(b)
			switch distinctionOfText(encode(b)) {
			case perClient:
				missed++
			case indistinct:
				constant++
			}
		}
		if missed > tokens/50 || constant > tokens/1000 {
			t.Errorf("%s: of %d tokens %d are not recognised, %d taken for constants", name, tokens, missed, constant)
		}
	}
}
