package locktest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/internal/memstate"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestFakeMatchesMarkerScripts compares the operations on markers with the scripts on a real Redis, as the test of package
// standalone does for locks.
func TestFakeMatchesMarkerScripts(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	codes := make(map[string]int)
	for seed := range uint64(40) {
		p := newMarkerPair(t, client, seed)
		var history []string
		for step := range 100 {
			real, fake, what := p.step()
			if real != fake {
				t.Fatalf("seed %d, step %d: %s\nredis: %s\nfake:  %s\nafter:\n%s", seed, step, what, real, fake,
					strings.Join(history, "\n"))
			}
			history = append(history, what+": "+real)
			op, _, _ := strings.Cut(what, " ")
			code, _, _ := strings.Cut(real, " ")
			codes[op+" "+code]++
		}
	}
	for _, code := range []string{
		"ask -1", "ask 0", "ask 1", "ask 2", "mark -1", "mark 0", "mark 1", "replace 0", "replace 1", "acquire true",
		"acquire false", "extend refilled", "extend gone", "extend refused",
	} {
		if codes[code] == 0 {
			t.Errorf("no %s among %v", code, codes)
		}
	}
}

// markerPair is a real and a fake server that get the same requests about their markers.
type markerPair struct {
	t       *testing.T
	r       *rand.Rand
	redis   *redis.Client
	fake    *memstate.State
	scripts map[string]string
}

const pairMarkerKey = "lockscope:life"

func newMarkerPair(t *testing.T, client *redis.Client, seed uint64) *markerPair {
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	p := &markerPair{t: t, r: rand.New(rand.NewPCG(seed, 4)), redis: client, fake: memstate.New(),
		scripts: make(map[string]string)}
	for name, files := range map[string][]string{
		"acquire": {"marker", "acquire", "handoff", "refuse"}, "extend": {"marker", "extend"},
		"quarantine": {"quarantine"}, "mark": {"mark"}, "replace": {"replace"},
	} {
		p.scripts[name] = readScript(t, files...)
	}
	return p
}

// readScript joins the parts of a script as package redlock/internal/scripts does.
func readScript(t *testing.T, files ...string) (source string) {
	t.Helper()
	for _, name := range files {
		part, err := os.ReadFile("../redlock/internal/scripts/" + name + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		source += string(part)
	}
	return source
}

func (p *markerPair) eval(name string, keys []string, args ...any) any {
	p.t.Helper()
	reply, err := p.redis.Eval(p.t.Context(), p.scripts[name], keys, args...).Result()
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	return reply
}

func (p *markerPair) instant() *memstate.Instant {
	return &memstate.Instant{State: p.fake, NowUS: time.Now().UnixMicro()}
}

func oneOf(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// step sends both the same request and returns their answers.
func (p *markerPair) step() (real, fake, what string) {
	f, id, db := oneOf(p.r, "3:f", "3:f", "4:g"), oneOf(p.r, "r1", "r1", "r2"), oneOf(p.r, "0", "0", "0", "1")
	switch p.r.IntN(10) {
	case 0, 1, 2, 3:
		return p.ask(memstate.Asked{
			Fingerprint: f, RunID: id, DB: db, CallerMS: int64(1000 * p.r.IntN(9)),
			LengthMS: int64(1000 * (1 + p.r.IntN(3))),
			Nonce:    fmt.Sprint("n", p.r.IntN(3)), Known: oneOf(p.r, "", "set.1", "its own", "its own"),
		})
	case 4:
		return p.mark(memstate.Marked{
			State: oneOf(p.r, "quarantine", "quarantine", "changing"), Fingerprint: f, RunID: id, DB: db,
			Nonce: oneOf(p.r, "vouch-1", "vouch-2", "change-1", "change-2"), LengthMS: 2000, From: "5:e",
		})
	case 5:
		return p.replace(oneOf(p.r, "quarantine|3:f|r1|0|", "changing|3:f|r1|0|", "voting|", "nothing"),
			oneOf(p.r, "voting|3:f|r1|0", "voting|3:f|r1|0", "quarantine|3:f|r1|0|set.1|1000|0|0", ""))
	case 6, 7:
		if p.r.IntN(2) == 0 { // a caller that expects no marker, but names its set
			set := oneOf(p.r, "1:h", "2:i", f)
			return p.votes(set, set)
		}
		return p.votes(fmt.Sprintf("voting|%s|%s|%s", f, id, db), f)
	}
	marker := oneOf(p.r, "", "voting|3:f|r1|0", "voting|3:f|r1|0", "voting|4:g|r1|0", "vouched|r1|n", "quarantine|3:f|r1|0",
		"changing|3:f|r1|0|set.1|1000|0|0",
		"changing|4:g|r1|0|change-2.1|1000|0|0",
		fmt.Sprintf("changing|3:f|r1|0|change-2.%d|1000|0|0", time.Now().UnixMicro()),
		"quarantine|3:f|r1|0|set.1|1000|0|0", "quarantine|3:f|r1|0|set.1|1000|1|3000",
		"quarantine|3:f|r1|0|set.1|1000|9000000000000|3000",
		"quarantine|3:f|r1|0|vouch-2.1|1000|1|1", "voting|1:h|r1|0", "quarantine|2:i|r1|0|set.1|1000|0|0",
		"changing|1:h|r1|0|set.1|1000|0|0|3:f", "changing|1:h|r1|0|set.1|1000|0|0|2:i",
		"changing|3:f|r1|0|left-set.1|1000|0|0|4:g", "quarantine|1:h|r1|0|change-1.1|1000|0|0",
		"quarantine|3:f|r1|0|change-1.1|9000|1|3000")
	if err := p.redis.Set(p.t.Context(), pairMarkerKey, marker, 0).Err(); err != nil {
		p.t.Fatal(err)
	}
	if marker == "" {
		p.redis.Del(p.t.Context(), pairMarkerKey)
	}
	p.fake.Marker = marker
	return marker, marker, "set " + marker
}

// alike removes from a marker what must differ: the servers' own instants.
func alike(marker string) string {
	marker = regexp.MustCompile(`\.\d{9,}\|`).ReplaceAllString(marker, ".when|")
	return regexp.MustCompile(`\|[1-8]\d{12}\|(\d+)$`).ReplaceAllString(marker, "|now|$1")
}

func identityOf(marker string) string {
	if fields := strings.Split(marker, "|"); len(fields) == 8 {
		return fields[4]
	}
	return ""
}

// left returns the rest of a quarantine in seconds, unless its count begins in the far future: a count begins a
// millisecond late.
func left(code, left, length int64) int64 {
	if code != 0 || left > length+1 {
		return 0
	}
	return (left + 500) / 1000
}

func (p *markerPair) ask(a memstate.Asked) (real, fake, what string) {
	what = fmt.Sprintf("ask %+v", a)
	known, fakeKnown := a.Known, a.Known
	if known == "its own" {
		known, fakeKnown = identityOf(p.redis.Get(p.t.Context(), pairMarkerKey).Val()), identityOf(p.fake.Marker)
	}
	reply := p.eval("quarantine", []string{pairMarkerKey}, a.Fingerprint, a.RunID, a.DB, a.CallerMS, a.LengthMS,
		a.Nonce, known).([]any)
	rest := int64(0)
	if len(reply) == 3 {
		rest = reply[2].(int64)
	}
	a.Known = fakeKnown
	code, marker, fakeRest := p.instant().AskQuarantine(a)
	stored := p.redis.Get(p.t.Context(), pairMarkerKey).Val()
	real = fmt.Sprint(reply[0], " ", left(reply[0].(int64), rest, 3000), " ", alike(reply[1].(string)), " ",
		alike(stored))
	fake = fmt.Sprint(code, " ", left(int64(code), fakeRest, 3000), " ", alike(marker), " ", alike(p.fake.Marker))
	return real, fake, what
}

func (p *markerPair) mark(m memstate.Marked) (real, fake, what string) {
	read := p.redis.Get(p.t.Context(), pairMarkerKey).Val()
	if m.Read = p.fake.Marker; p.r.IntN(3) == 0 {
		read, m.Read = "another", "another"
	}
	reply := p.eval("mark", []string{pairMarkerKey}, m.State, m.Fingerprint, m.RunID, m.DB, m.Nonce, m.LengthMS, read,
		m.From).([]any)
	code, marker := p.instant().Mark(m)
	return fmt.Sprint(reply[0], " ", alike(reply[1].(string))), fmt.Sprint(code, " ", alike(marker)),
		fmt.Sprintf("mark %+v", m)
}

func (p *markerPair) replace(prefix, marker string) (real, fake, what string) {
	reply := p.eval("replace", []string{pairMarkerKey}, prefix, marker).(int64)
	replaced := map[bool]int64{true: 1}[p.instant().Replace(prefix, marker)]
	return fmt.Sprint(reply, " ", alike(p.redis.Get(p.t.Context(), pairMarkerKey).Val())),
		fmt.Sprint(replaced, " ", alike(p.fake.Marker)),
		fmt.Sprintf("replace %q by %q", prefix, marker)
}

// votes asks for a vote, and then for an extend of it.
func (p *markerPair) votes(expected, fingerprint string) (real, fake, what string) {
	token, key := strings.Repeat("a", 32), "lock:"+strconv.Itoa(p.r.IntN(1<<30))
	keys := []string{key, "fence", key + ":tomb", key + ":next", key + ":queue", pairMarkerKey}
	if p.r.IntN(2) == 0 {
		reply := p.eval("acquire", keys, token, "host|1|", 1000, 1, "1", expected)
		_, refused := reply.([]any)
		_, ok := p.instant().Proven(expected)
		return fmt.Sprint(!refused), fmt.Sprint(ok), "acquire with " + expected
	}
	reply := p.eval("extend", []string{key, "fence", key + ":tomb", pairMarkerKey}, token, 1000, "1", 1, 1, "host|1|", "0",
		fingerprint, expected)
	_, refused := reply.([]any)
	_, proven := p.instant().Proven(expected)
	return extended(refused, reply == any(int64(2))), extended(p.instant().OtherConfiguration(fingerprint, expected), proven),
		"extend of " + fingerprint
}

// extended is the result of extending a missing lock, in a word.
func extended(refused, refilled bool) string {
	switch {
	case refused:
		return "refused"
	case refilled:
		return "refilled"
	}
	return "gone"
}
