package holders

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

func stringValue(text string) *keyreader.Value {
	return &keyreader.Value{Type: keyreader.String, Head: text[:min(len(text), keyreader.HeadSize)],
		Size: int64(len(text))}
}

func TestWhatTellsOwnersApart(t *testing.T) {
	const (
		uuid      = "8743c9c0-0795-4907-87fd-6c719a6b4586"
		lockscope = "0123456789abcdef0123456789abcdef:17|web-3/4711|1763000000000||"
	)
	for value, accepted := range map[string]bool{
		lockscope:                            true,
		lockscope + strings.Repeat("p", 300): true,
		"ADDED:2026-11-21T18:00:00.005Z@host-1:" + uuid: true,
		"ADDED:2026-11-21T18:00:00.005Z@host-1":         true,
		uuid:                                            true,
		strings.ToUpper(uuid):                           true,
		"celery@" + uuid:                                true,
		"3f2c9a6ec7a911f0b5d20242ac120002":              true, // redis-py
		"8Q5xLzCgV2rEJwJ7yYtSIA==":                      true, // redsync
		"hTYMdGE4tKPBgV8bdmV0Nwregion=eu":               true, // redislock
		"01ARZ3NDEKTSV4RRFFQ69G5FAV":                    true, // ULID
		"9m4e2mr0ui3e8a215n4g":                          true, // xid
		"V1StGXR8_Z5jdHi6B-myT":                         true, // nanoid
		"":                                              false,
		"1":                                             false,
		"locked":                                        false,
		"true":                                          false,
		"web-7.prod.example.com":                        false,
		"payments-7d9f8b6c5d-x2x9z":                     false, // a pod
		"payments-worker-7d9f8b6c5d-x2x9z":              false,
		"ip-10-0-12-34.ec2.internal":                    false,
		"i-0abc123def4567890":                           false, // a machine
		"i-0abc123def4567890.eu-west-1.compute.internal": false,
		"9f86d081884c":                                 false, // a container
		"PaymentServiceProduction":                     false,
		"PaymentService2Host01":                        false,
		"Payment-Service-Host-A1":                      false,
		"DESKTOP-AB12CD3":                              false,
		"web-3/4711":                                   false,
		"1763000000.123":                               false,
		"1763000000123456789":                          false,
		"00000000-0000-0000-0000-000000000000":         false,
		strings.Repeat("0", 32):                        false,
		strings.Repeat("a1", 16):                       false,
		strings.Repeat("aA1", 16):                      false,
		"507f1f77bcf86cd799439011":                     false, // an ObjectID shares machine, process and second with others
		"/usr/local/share/application/data":            false,
		strings.Repeat("8Q5xLzCgV2rEJwJ7yYtSIA==", 14): false, // longer than the part that is compared
		"owner=\xff\xfe\x00":                           false,
	} {
		if why := Doubt(stringValue(value)); (why == "") != accepted {
			t.Errorf("%.60q: doubt %q, accepted should be %v", value, why, accepted)
		}
	}
}

// TestRandomTokensAreTakenForSuch: random values of libraries are rarely in doubt.
func TestRandomTokensAreTakenForSuch(t *testing.T) {
	const rounds = 5000
	for name, text := range map[string]func([]byte) string{
		"hex":    hex.EncodeToString,
		"base64": base64.StdEncoding.EncodeToString,
		"url":    base64.RawURLEncoding.EncodeToString,
	} {
		doubted := 0
		for range rounds {
			b := make([]byte, 16)
			_, _ = rand.Read(b)
			if Doubt(stringValue(text(b))) != "" {
				doubted++
			}
		}
		t.Logf("%s: %d of %d in doubt", name, doubted, rounds)
		if doubted > rounds/10 {
			t.Errorf("%s: %d of %d tokens of 128 bits are in doubt", name, doubted, rounds)
		}
	}
}

func TestHashesThatTellOwnersApart(t *testing.T) {
	const uuid = "8743c9c0-0795-4907-87fd-6c719a6b4586"
	field := func(pairs ...string) (fields [][2]string) {
		for _, name := range pairs {
			value := "1"
			if name == "mode" {
				value = "write"
			}
			fields = append(fields, [2]string{name, value})
		}
		return fields
	}
	for name, c := range map[string]struct {
		fields   [][2]string
		accepted bool
	}{
		"lock":        {field(uuid + ":1"), true},
		"read-write":  {field(uuid+":1:write", "mode"), true},
		"readers":     {field(uuid+":1", uuid+":2", "mode"), true},
		"not a UUID":  {field("client:1"), false},
		"one is not":  {field(uuid+":1", "client:1"), false},
		"nil UUID":    {field("00000000-0000-0000-0000-000000000000:1"), false},
		"not a lock":  {field("name"), false},
		"not read":    {nil, false},
		"only a mode": {field("mode"), false},
	} {
		v := &keyreader.Value{Type: keyreader.Hash, Fields: c.fields, Size: int64(len(c.fields))}
		if why := Doubt(v); (why == "") != c.accepted {
			t.Errorf("%s: %q, accepted should be %v", name, why, c.accepted)
		}
	}
	if why := Doubt(&keyreader.Value{Type: "list"}); why == "" {
		t.Error(fmt.Sprint("a list: ", why))
	}
}
