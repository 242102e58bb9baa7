package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/systems"
)

func TestBadFlags(t *testing.T) {
	tests := []struct{ args, message string }{
		{"-for x", `invalid value "x" for flag -for`},
		{"-for 1s", "too short: at least 3s"},
		{"-for -1s", "too short"},
		{"-nodes 0", "between 1 and 15"},
		{"-nodes 99", "between 1 and 15"},
		{"-ttl 1ms", "-ttl 1ms: between 200ms and 1m0s"},
		{"-ttl 10s", "at most an eighth"},
		{"-ttl 2m -for 1h", "between 200ms and 1m0s"},
		{"-node-timeout 0", "between 1ms and a quarter"},
		{"-node-timeout 600ms -ttl 2s", "between 1ms and a quarter of the TTL, which is 2s"},
		{"-redis a:1,,b:2", "empty server"},
		{"-redis a:1 -nodes 3", "give one of them"},
		{"-redis localhost:6379,localhost:6379", "both localhost:6379"},
		{"-redis redis://:secret@[bad", "URL 1"},
		{"-redis ftp://x", "URL 1"},
		{"-listen 127.0.0.1", `-listen: "127.0.0.1" is not host:port`},
		{"-log loud", `level "loud"`},
		{"extra", `unexpected argument "extra"`},
		{"-backend mysql", `-backend "mysql": one of redis, postgres, etcd, zookeeper, redsync`},
		{"-backend postgres -redis a:1",
			"-redis is for -backend redis: -backend postgres starts one PostgreSQL server of its own"},
		{"-backend etcd -nodes 3",
			"-nodes is for -backend redis: -backend etcd starts a cluster of three members of its own"},
		{"-backend zookeeper -redis a:1", "starts an ensemble of three servers of its own"},
		{"-backend redsync -nodes 5", "starts five Redis servers of its own"},
		{"-backend etcd -for 7s", "too short: at least 8s with -backend etcd"},
		{"-backend zookeeper -for 8s -ttl 400ms", "-ttl 400ms: between 500ms and 1m0s"},
		{"-what", "flag provided but not defined: -what"},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(t.Context(), strings.Fields(test.args), &stdout, &stderr); status != 2 {
				t.Errorf("exit status %d, want 2", status)
			}
			if !strings.Contains(stderr.String(), test.message) || strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("message %q, want one line with %q", &stderr, test.message)
			}
			if strings.Contains(stderr.String(), "secret") {
				t.Error("the message contains the password")
			}
			if stdout.Len() != 0 {
				t.Errorf("wrote %q", &stdout)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"-h"}, &stdout, &stderr); status != 0 || stderr.Len() != 0 {
		t.Errorf("exit status %d, %q", status, &stderr)
	}
	for _, flag := range []string{"-for", "-nodes", "-redis", "-ttl", "-node-timeout", "-seed", "-listen", "-log",
		"-backend"} {
		if !strings.Contains(stdout.String(), "\n  "+flag+" ") {
			t.Errorf("no %s in %s", flag, &stdout)
		}
	}
}

func TestServersThatDoNotAnswerAreAnErrorAtOnce(t *testing.T) {
	var stdout, stderr bytes.Buffer
	began := time.Now()
	if status := run(t.Context(), []string{"-redis", "127.0.0.1:1"}, &stdout, &stderr); status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
	if !strings.Contains(stderr.String(), "127.0.0.1:1 does not answer") {
		t.Errorf("message %q", &stderr)
	}
	if took := time.Since(began); took > 2*systems.Patience {
		t.Errorf("took %v", took)
	}
}

func TestNodeTimeoutFollowsBackend(t *testing.T) {
	for args, want := range map[string]time.Duration{
		"":                                      50 * time.Millisecond,
		"-backend redsync":                      50 * time.Millisecond,
		"-backend postgres":                     500 * time.Millisecond,
		"-backend etcd -ttl 1s":                 250 * time.Millisecond,
		"-backend zookeeper -node-timeout 80ms": 80 * time.Millisecond,
	} {
		cfg, err := parseFlags(strings.Fields(args), nil)
		if err != nil || cfg.Answer != want {
			t.Errorf("%q: node timeout %v, %v; want %v", args, cfg.Answer, err, want)
		}
	}
}

func TestTTLFollowsLength(t *testing.T) {
	for args, want := range map[string]time.Duration{
		"":                   2 * time.Second,
		"-for 5s":            500 * time.Millisecond,
		"-for 1h":            2 * time.Second,
		"-for 1h -ttl 250ms": 250 * time.Millisecond,
	} {
		cfg, err := parseFlags(strings.Fields(args), nil)
		if err != nil || cfg.TTL != want {
			t.Errorf("%q: TTL %v, %v; want %v", args, cfg.TTL, err, want)
		}
	}
}
