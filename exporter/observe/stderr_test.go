package observe_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/observe"
	"github.com/lockscope/lockscope/exporter/redislog"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// inChild makes TestMain run the program of TestStderrStaysEmpty: a library's output is the process's.
const (
	inChild    = "LOCKSCOPE_OBSERVE_NODES"
	keepLogger = "LOCKSCOPE_OBSERVE_KEEP" // the child sets go-redis's logger itself
)

// child observes two sets of the nodes, each with its own logger, and locks before and during their outage.
func child(nodes []string) (err error) {
	logger := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	if err := vouch(nodes); err != nil {
		return err
	}
	keep := os.Getenv(keepLogger) != ""
	if keep {
		redis.SetLogger(redislog.New(logger.With("observer", "program")))
	}
	var all []*observe.Locks
	for _, name := range []string{"orders-1", "reports-1"} {
		locks, err := observe.Redis(nodes, observe.Config{
			Instance: name, Logger: logger.With("observer", name), KeepRedisLogger: keep,
		})
		if err != nil {
			return err
		}
		if err := lock.Do(context.Background(), locks, name,
			func(context.Context, lock.Lease) error { return nil }); err != nil {
			return err
		}
		all = append(all, locks)
	}
	defer func() {
		for _, locks := range all {
			err = errors.Join(err, locks.Shutdown(context.Background()))
		}
	}()
	logger.Info("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the nodes are down
	var callers sync.WaitGroup
	for _, locks := range all {
		for range 20 {
			callers.Go(func() {
				for range 5 {
					_, _ = locks.Acquire(context.Background(), "job", lock.MaxAttempts(3))
				}
			})
		}
	}
	callers.Wait()
	return nil
}

// vouch makes freshly started nodes vote at once.
func vouch(nodes []string) error {
	clients, closeAll, err := redlock.NewClients(nodes)
	if err != nil {
		return err
	}
	return errors.Join(redlock.Vouch(context.Background(), clients), closeAll())
}

// record is a line of the child's logger.
type record struct {
	Msg, Library, Observer string
	LeftOut                int `json:"left_out"`
}

// outage runs the child until all its nodes have failed.
func outage(t *testing.T, env ...string) (records []record, stderr string) {
	var urls []string
	servers := locktest.Servers(t, 3)
	for _, s := range servers {
		urls = append(urls, "redis://"+s.Addr())
	}
	program, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), inChild+"="+strings.Join(urls, ","))
	cmd.Env = append(cmd.Env, env...)
	var written bytes.Buffer
	cmd.Stderr = &written
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var r record
		must(t, json.Unmarshal(lines.Bytes(), &r))
		if r.Msg == "ready" {
			for _, s := range servers {
				must(t, s.Kill())
			}
			must(t, stdin.Close())
		}
		records = append(records, r)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the child: %v", err)
	}
	return records, written.String()
}

// TestStderrStaysEmpty: while all nodes are down, lines of go-redis go to the given logger, one of each kind, and at
// the end the number of the others.
func TestStderrStaysEmpty(t *testing.T) {
	began := time.Now()
	records, stderr := outage(t)
	if stderr != "" {
		t.Errorf("%d lines on stderr: %.500s", strings.Count(stderr, "\n"), stderr)
	}
	library, leftOut, next := 0, 0, false
	for _, r := range records {
		if r.Library != "go-redis" {
			continue
		}
		library++
		leftOut += r.LeftOut
		// Lines of the process go to the first observer, and after its shutdown to the next.
		if next = next || r.Observer != "orders-1"; next && r.Observer == "orders-1" || library == 1 && next {
			t.Errorf("%+v: a line of the process is told to whoever came first", r)
		}
	}
	// Two kinds: one record at once, one every ten seconds, and the rest at the end.
	if most := 4 + 2*int(time.Since(began)/(10*time.Second)); library == 0 || library > most {
		t.Errorf("%d records of go-redis, want 1 to %d", library, most)
	}
	if leftOut < 20 {
		t.Errorf("%d lines were left out, want the many of an outage: %+v", leftOut, records)
	}
	if !slices.ContainsFunc(records, func(r record) bool { return r.Msg == "no quorum" }) {
		t.Errorf("the outage is not told: %+v", records)
	}
	t.Logf("%d records, %d of them of go-redis, which left out %d", len(records), library, leftOut)
}

// TestKeepRedisLogger: the logger that the program gave go-redis stays.
func TestKeepRedisLogger(t *testing.T) {
	records, stderr := outage(t, keepLogger+"=1")
	if stderr != "" {
		t.Errorf("on stderr: %.500s", stderr)
	}
	library := slices.DeleteFunc(records, func(r record) bool { return r.Library == "" })
	if len(library) == 0 || slices.ContainsFunc(library, func(r record) bool { return r.Observer != "program" }) {
		t.Errorf("of go-redis: %+v", library)
	}
}
