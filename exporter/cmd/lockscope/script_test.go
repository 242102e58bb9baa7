package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// TestScripts runs testdata/script: what a user types, and what appears. testdata/script/README.md lists the commands.
func TestScripts(t *testing.T) {
	commands := map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "until": until}
	for name, p := range verbs() {
		commands[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("use exits, which names the status")
			}
			show(ts, 0, p(ts, args))
		}
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: commands, Setup: setUp})
}

// A verb is what a line of a script runs.
type verb func(ts *testscript.TestScript, args []string) cmdtest.Outcome

func verbs() map[string]verb {
	all := map[string]verb{
		"lockscope": runHere, "start": startProcess, "log": showLog, "ended": awaitEnd, "signal": sendSignal,
		"http": getPage, "receiver": startReceiver, "received": nextRequest, "cat": showFile, "port": reservePort,
		"certificate": makeCertificate, "expand": expand, "refuses": refuses, "variables": setVariables,
	}
	maps.Copy(all, serverVerbs())
	maps.Copy(all, systemVerbs())
	maps.Copy(all, lockVerbs())
	return all
}

// place is where a script keeps what it has started.
type place struct {
	testing.TB
	variables []string
	servers   map[string]server
	clients   map[string]*redis.Client
	started   map[string]*cmdtest.Started
	requests  map[string]chan string
	systems   map[string]any // *pgproc.Server, *clientv3.Client, *ensemble
	sessions  map[string]*pgx.Conn
	engines   map[string]*engine.Engine
	leases    map[string]lock.Lease
}

func of(ts *testscript.TestScript) *place { return ts.Value("place").(*place) }

// setUp also lets exec run lockscope, as a process of its own: this test binary with another name.
func setUp(env *testscript.Env) error {
	tb := env.T().(testing.TB)
	env.Values["place"] = &place{
		TB: tb, servers: make(map[string]server), started: make(map[string]*cmdtest.Started),
		requests: make(map[string]chan string), clients: make(map[string]*redis.Client), systems: make(map[string]any),
		sessions: make(map[string]*pgx.Conn), engines: make(map[string]*engine.Engine),
		leases: make(map[string]lock.Lease),
	}
	bin, at := tb.TempDir(), func(ago time.Duration) string {
		return time.Now().Add(-ago).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"PATH": bin + string(os.PathListSeparator) + env.Getenv("PATH"), "LOCKSCOPE_TEST_IS_LOCKSCOPE": "1", "NO_COLOR": "1",
		"OURS": cmdtest.Ours, "SECRET": cmdtest.SecretToken, "NOW": at(0), "EARLIER": at(8 * time.Minute),
		"NOW_MS": strconv.FormatInt(time.Now().UnixMilli(), 10),
		"SOON":   "--confirm-after=10ms", // nobody takes locks in two steps here
	} {
		env.Setenv(name, value)
	}
	return os.Symlink(exe, filepath.Join(bin, "lockscope"))
}

// runHere is lockscope in this process, with the variables of the last line "variables" and no others.
func runHere(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	return cmdtest.Program(run).With(of(ts), of(ts).variables, "", args...)
}

// variables NAME=VALUE... are those of each following lockscope.
func setVariables(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	of(ts).variables = args
	return cmdtest.Outcome{}
}

// refuses PATTERN ARGUMENT... is lockscope with a mistake that it reports before it asks any server: on standard error,
// and no password is repeated.
func refuses(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	o := runHere(ts, args[1:])
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	if o.Status != ui.ExitError || o.Out != "" || !pattern.MatchString(o.Err) || strings.Contains(o.Err, "s3cr3t") ||
		strings.Contains(o.Err, "lockscope: ->") {
		ts.Fatalf("exit %d\nstdout:\n%s\nstderr:\n%s", o.Status, o.Out, o.Err)
	}
	return cmdtest.Outcome{}
}

// runAny runs one of the programs above, or another process with the environment.
func runAny(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	if len(args) == 0 {
		ts.Fatalf("no program is named")
	}
	if p, known := verbs()[args[0]]; known {
		return p(ts, args[1:])
	}
	if args[0] != "exec" || len(args) < 2 {
		ts.Fatalf("unknown program %q", args[0])
	}
	err := ts.Exec(args[1], args[2:]...)
	status := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		status = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	return cmdtest.Outcome{Status: status, Out: ts.ReadFile("stdout"), Err: ts.ReadFile("stderr")}
}

// exits runs a program that must end with this status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM [ARGUMENT...]")
	}
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	show(ts, status, runAny(ts, args[1:]))
}

// patience is how long a script waits for what must come. A busy machine takes minutes for what takes seconds.
const patience = 5 * time.Minute

// until runs a program again and again until its output matches or, with !, no longer matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] until PATTERN PROGRAM [ARGUMENT...]")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		o := runAny(ts, args[1:])
		if pattern.MatchString(o.Out+o.Err) != neg {
			show(ts, o.Status, o)
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("not within %v; the last time:\n%s%s", patience, o.Out, o.Err)
		}
	}
}

// show makes the output of a program that of the line.
func show(ts *testscript.TestScript, want int, o cmdtest.Outcome) {
	fmt.Fprint(ts.Stdout(), o.Out)
	fmt.Fprint(ts.Stderr(), o.Err)
	if o.Status != want {
		ts.Fatalf("exit %d, want %d\nstdout:\n%s\nstderr:\n%s", o.Status, want, o.Out, o.Err)
	}
}
