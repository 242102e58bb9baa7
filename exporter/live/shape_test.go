package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktrace"
)

var update = flag.Bool("update", false, "write testdata/state.json as it is now")

// hostileName is a resource name that attacks any display.
const hostileName = `<script>alert("1")</script>'&\ ` + "\u200b\u00a0 ß"

// TestShape compares the JSON of a State that has every field with the recorded one: pages and scripts read it.
func TestShape(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		_, a := process(t, servers, "a/1")
		board, b := process(t, servers, "b/2")
		before, err := a.Acquire(locktrace.WithTraceparent(t.Context(), traceparent1), "job")
		must(t, err)
		behind := acquireAsync(t.Context(), b, "job")
		settle(time.Second)
		must(t, before.Release(t.Context()))
		must(t, (<-behind).lease.Release(t.Context()))
		elsewhere, err := a.Acquire(locktrace.WithTraceparent(t.Context(), traceparent1), "job")
		must(t, err)
		ctx, cancel := context.WithCancel(inTrace(t.Context(), 3))
		lease, err := b.Acquire(ctx, hostileName)
		must(t, err)
		settle(4 * time.Second)
		_, err = b.Acquire(ctx, "job", lock.NoWait())
		if !errors.Is(err, lock.ErrHeld) {
			t.Fatal(err)
		}
		waiting := acquireAsync(ctx, b, "job")
		settle(time.Second)
		local := acquireAsync(ctx, b, "job")
		settle(500 * time.Millisecond)
		s := stateOf(board)
		got, err := json.MarshalIndent(s, "", "  ")
		must(t, err)
		if *update {
			must(t, os.WriteFile("testdata/state.json", append(got, '\n'), 0o644))
		}
		want, err := os.ReadFile("testdata/state.json")
		must(t, err)
		if !bytes.Equal(got, bytes.TrimSpace(want)) {
			t.Errorf("got %s\nwant %s", got, want)
		}
		var back state.State
		must(t, json.Unmarshal(got, &back))
		if !reflect.DeepEqual(back, s) {
			t.Errorf("came back as %+v\nwant %+v", back, s)
		}
		if back.Held[0].Resource != hostileName || lease.Resource() != hostileName {
			t.Errorf("the name became %q", back.Held[0].Resource)
		}
		cancel()
		<-waiting
		<-local
		must(t, lease.Release(t.Context()))
		must(t, elsewhere.Release(t.Context()))
	})
}

// TestEmpty has arrays, not nulls, for readers of JSON.
func TestEmpty(t *testing.T) {
	got, err := json.Marshal(stateOf(newBoard(t, live.WithInstance("a/1"))))
	must(t, err)
	if strings.Contains(string(got), "null") ||
		!strings.Contains(string(got), `"held":[],"waiting":[],"waits":[],"nodes":[],"sets":[],"stalls":[],"slowest":[]`) {
		t.Errorf("nothing is told as %s", got)
	}
}

// TestHostileNames has names that no Redlock would accept, over a Locker that does.
func TestHostileNames(t *testing.T) {
	board := newBoard(t)
	l := wrap(t, board, &noop{})
	names := []string{"", "\x00\x1b[31m", "\xff\xfe", strings.Repeat("ß", 1<<20), hostileName}
	var leases []lock.Lease
	for _, name := range names {
		lease := acquire(t, l, name)
		if lease.Resource() != name {
			t.Errorf("%.20q became %.20q", name, lease.Resource())
		}
		leases = append(leases, lease)
	}
	s := stateOf(board)
	if len(s.Held) != len(names) || len(s.Slowest) != len(names) {
		t.Errorf("%d held, %d slowest", len(s.Held), len(s.Slowest))
	}
	for _, h := range s.Held {
		if len(h.Resource) < 1<<10 && !slices.Contains(names, h.Resource) || len(h.Resource) > 1100 {
			t.Errorf("a name of %d bytes became %.20q", len(h.Resource), h.Resource)
		}
	}
	text, err := json.Marshal(s)
	must(t, err)
	if !json.Valid(text) || len(text) > 1<<16 {
		t.Errorf("%d bytes of JSON", len(text))
	}
	for _, lease := range leases {
		must(t, lease.Release(t.Context()))
	}
}

// TestNoTokenIsTold reads tokens from real servers and looks for them in States after success, refusal, waiting, loss
// and failure.
func TestNoTokenIsTold(t *testing.T) {
	servers := locktest.Servers(t, 3)
	board := newBoard(t)
	a, b := wrap(t, board, onRedis(t, servers)), wrap(t, board, onRedis(t, servers))
	admin := redis.NewClient(&redis.Options{Addr: servers[2].Addr()})
	defer admin.Close()
	var tokens []string
	var told strings.Builder
	look := func() {
		text, err := json.Marshal(stateOf(board))
		must(t, err)
		told.Write(text)
	}
	read := func() {
		eventually(t, "the third node has the lock", func() bool {
			token, _, _ := strings.Cut(admin.Get(t.Context(), "lock:job").Val(), ":")
			if len(token) == 32 {
				tokens = append(tokens, token)
			}
			return len(token) == 32
		})
	}
	lease := acquire(t, a, "job")
	read()
	look()
	waiting := acquireAsync(t.Context(), b, "job", lock.TTL(4*nodeTimeout))
	eventually(t, "it waits", func() bool {
		s := stateOf(board)
		return len(s.Waiting) == 1 &&
			s.Waiting[0].Blocker != nil
	})
	look()
	must(t, lease.Release(t.Context()))
	got := <-waiting
	must(t, got.err)
	read()
	must(t, servers[0].Pause())
	must(t, servers[1].Pause())
	<-got.lease.Context().Done()
	_ = got.lease.Release(t.Context())
	_, err := a.Acquire(t.Context(), "job", lock.NoWait())
	if err == nil {
		t.Error("acquired from one node of three")
	}
	look()
	must(t, servers[0].Resume())
	must(t, servers[1].Resume())
	for _, token := range tokens {
		if strings.Contains(told.String(), token) || strings.Contains(told.String(), token[:8]) {
			t.Errorf("a token is told: %s", told.String())
		}
	}
	if len(tokens) < 2 || !strings.Contains(told.String(), "no answer within the node timeout") {
		t.Errorf("%d tokens; nothing to look through in %s", len(tokens), told.String())
	}
}

func TestOptions(t *testing.T) {
	for name, opt := range map[string]live.Option{
		"nil":                nil,
		"no instance":        live.WithInstance(""),
		"window too short":   live.WithWindow(time.Second - 1),
		"window too long":    live.WithWindow(time.Hour + 1),
		"slowest too few":    live.WithSlowest(-1),
		"slowest too many":   live.WithSlowest(101),
		"shown too few":      live.WithMaxShown(0),
		"shown far too few":  live.WithMaxShown(-1 << 62),
		"shown too many":     live.WithMaxShown(10_001),
		"no warning":         live.WithObjectives(0, time.Second),
		"alarm too early":    live.WithObjectives(time.Second, time.Second-1),
		"profile rate":       live.WithProfileRate(-1),
		"trace without id":   live.WithTraceURL("https://tempo/trace/"),
		"trace chooses":      live.WithTraceURL("https://{traceID}/trace"),
		"trace chooses, too": live.WithTraceURL("https://tempo{traceID}/"),
		"trace twice":        live.WithTraceURL("https://tempo/{traceID}/{traceID}"),
		"trace script":       live.WithTraceURL("javascript:alert({traceID})"),
		"trace password":     live.WithTraceURL("https://a:b@tempo/{traceID}"),
		"trace relative":     live.WithTraceURL("/trace/{traceID}"),
	} {
		if b, err := live.New(opt); !errors.Is(err, live.ErrInvalidOption) || b != nil {
			t.Errorf("%s: %v, %v", name, b, err)
		}
	}
	b := newBoard(t, live.WithInstance("a|b\n\xff"), live.WithWindow(time.Hour), live.WithSlowest(0),
		live.WithMaxShown(1),
		live.WithObjectives(time.Millisecond, time.Millisecond),
		live.WithTraceURL("https://tempo.example.com/trace/{traceID}?x=y"))
	if got := stateOf(b).Instance; got != "a_b__" {
		t.Errorf("instance %q", got)
	}
	must(t, acquire(t, wrap(t, b, &noop{}), "x").Release(t.Context()))
	if s := stateOf(b); len(s.Slowest) != 0 || len(s.Waits) != 1 {
		t.Errorf("without slowest: %+v", s)
	}
}

// TestDefaultInstance is the name that locks use for this process.
func TestDefaultInstance(t *testing.T) {
	fakes := locktest.NewFakes(t, 1, lock.WithNodeTimeout(nodeTimeout))
	must(t, lock.Do(t.Context(), fakes(t), "job", func(context.Context, lock.Lease) error {
		_, err := fakes(t).Acquire(t.Context(), "job", lock.NoWait())
		held, ok := errors.AsType[*lock.HeldError](err)
		if want := stateOf(newBoard(t)).Instance; !ok || held.Holder.Instance != want {
			t.Errorf("the lock names %+v, the Board %q", held, want)
		}
		return nil
	}))
}

// TestImports keeps packages that serve and export out of the Board.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{join .Imports " "}}`, ".", "./internal/...", "./state").Output()
	must(t, err)
	imports := strings.Fields(string(out))
	for _, path := range imports {
		std := !strings.Contains(strings.Split(path, "/")[0], ".")
		own := strings.HasPrefix(path, "github.com/lockscope/lockscope/exporter/live/")
		if !std && !own && !slices.Contains([]string{
			"github.com/lockscope/lockscope/exporter/internal/traceevent", // a format, of the standard library alone
			"github.com/lockscope/lockscope/lock",
			"github.com/lockscope/lockscope/lock/decorate",
			"github.com/lockscope/lockscope/lock/driver",
			"github.com/lockscope/lockscope/lock/locktrace",
			"github.com/lockscope/lockscope/lock/engine/records",
			"github.com/lockscope/lockscope/lock/waitgraph",
			"go.opentelemetry.io/otel/trace",
		}, path) {
			t.Errorf("package live imports %s: it needs no more than lock and otel/trace", path)
		}
	}
	if len(imports) < 5 {
		t.Errorf("%d imports: the check looks at nothing", len(imports))
	}
}

// TestLockerInstance puts two processes on one Board.
func TestLockerInstance(t *testing.T) {
	fakes := locktest.NewFakes(t, 3)
	board := newBoard(t, live.WithInstance("host"))
	a, b := wrap(t, board, fakes(t), live.WithLockerInstance("a|1")),
		wrap(t, board, fakes(t), live.WithLockerInstance("b/2"))
	lease, err := a.Acquire(t.Context(), "job")
	must(t, err)
	waiting := acquireAsync(t.Context(), b, "job")
	var s state.State
	eventually(t, "it waits for the other", func() bool {
		s = stateOf(board)
		return len(s.Waiting) == 1 && s.Waiting[0].Blocker != nil
	})
	if h := s.Held[0]; h.Holder != "a_1" {
		t.Errorf("held by %q", h.Holder)
	}
	if w := s.Waiting[0]; w.Instance != "b/2" || w.Blocker.Here {
		t.Errorf("waiter %+v, blocker %+v", w, w.Blocker)
	}
	must(t, lease.Release(t.Context()))
	got := <-waiting
	must(t, got.err)
	must(t, got.lease.Release(t.Context()))
}
