package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// A server is one that a script can hurt.
type server interface {
	Kill() error
	Pause() error
	Resume() error
}

func serverVerbs() map[string]verb {
	return map[string]verb{
		"redis-server": startRedis, "redis-cli": askRedis, "redis-sentinel": startSentinel, "redis-cluster": startCluster,
		"reader":      addReader,
		"kill-server": act(func(p *place, s server) error { return s.Kill() }), "pause": act(pause),
		"resume":  act(func(p *place, s server) error { return s.Resume() }),
		"restart": act(restart),
	}
}

// act NAME... does something to each of these servers.
func act(do func(*place, server) error) verb {
	return func(ts *testscript.TestScript, args []string) cmdtest.Outcome {
		for _, name := range args {
			s, known := of(ts).servers[name]
			if !known {
				ts.Fatalf("no server %s was started", name)
			}
			ts.Check(do(of(ts), s))
		}
		return cmdtest.Outcome{}
	}
}

// pause resumes the server when the script ends: one that stands still cannot be stopped in order.
func pause(p *place, s server) error {
	p.Cleanup(func() { _ = s.Resume() })
	return s.Pause()
}

func restart(p *place, s server) error {
	if s, ok := s.(interface{ Restart(context.Context) error }); ok {
		return s.Restart(p.Context())
	}
	return s.(interface{ Start() error }).Start()
}

// startRedis NAME... [-- ARGUMENT...] starts a redis-server for each name. Its address is in the variable of that name.
func startRedis(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	names, options := args, []string(nil)
	if i := slices.Index(args, "--"); i >= 0 {
		names, options = args[:i], args[i+1:]
	}
	for i, s := range locktest.Servers(of(ts), len(names), redisproc.WithArgs(options...)) {
		addServer(ts, names[i], s)
	}
	return cmdtest.Outcome{}
}

func addServer(ts *testscript.TestScript, name string, s *redisproc.Server) {
	of(ts).servers[name] = s
	ts.Setenv(name, s.Addr())
	ts.Setenv(name+"_PORT", strconv.Itoa(s.Port()))
}

// startCluster NAME... forms a cluster of a master for each name.
func startCluster(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	for i, s := range locktest.Cluster(of(ts), len(args)).Servers() {
		addServer(ts, args[i], s)
	}
	return cmdtest.Outcome{}
}

// startSentinel NAME MASTER REPLICA starts a Sentinel that watches two servers.
func startSentinel(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	p := of(ts)
	s, err := redisproc.StartSentinel(p.Context(), p.redis(args[1]), p.redis(args[2]))
	ts.Check(err)
	p.Cleanup(func() { cmdtest.Must(p, s.Stop()) })
	ts.Setenv(args[0], s.Addr())
	return cmdtest.Outcome{}
}

func (p *place) redis(name string) *redisproc.Server {
	s, ok := p.servers[name].(*redisproc.Server)
	if !ok {
		p.Fatalf("no redis-server %s was started", name)
	}
	return s
}

// askRedis NAME COMMAND... shows a server's reply, as redis-cli does when its output is no terminal. A word in double
// quotes may have \x and \n.
func askRedis(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	p := of(ts)
	words := make([]any, len(args)-1)
	for i, word := range args[1:] {
		if bytes, err := strconv.Unquote(word); err == nil && word[0] == '"' {
			word = bytes
		}
		words[i] = word
	}
	if p.clients[args[0]] == nil { // one connection, which stays when a password is set
		p.clients[args[0]] = cmdtest.Admin(p, p.redis(args[0]))
	}
	reply, err := p.clients[args[0]].Do(p.Context(), words...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return cmdtest.Outcome{Status: 1, Err: err.Error() + "\n"}
	}
	return cmdtest.Outcome{Out: replyText(reply) + "\n"}
}

func replyText(reply any) string {
	switch r := reply.(type) {
	case nil:
		return ""
	case []any:
		lines := make([]string, len(r))
		for i, element := range r {
			lines[i] = replyText(element)
		}
		return strings.Join(lines, "\n")
	case map[any]any:
		var lines []string
		for key, value := range r {
			lines = append(lines, replyText(key)+"\n"+replyText(value))
		}
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	return fmt.Sprint(reply)
}

// addReader NAME KEY LEFT makes a reader of a lock whose time ends after LEFT. If that is over, the key never expires.
// The variable TOKEN has its token.
func addReader(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	p := of(ts)
	left, err := time.ParseDuration(args[2])
	ts.Check(err)
	ts.Setenv("TOKEN", cmdtest.SetReader(p, cmdtest.Admin(p, p.redis(args[0])), args[1], left, max(left, 0)))
	return cmdtest.Outcome{}
}
