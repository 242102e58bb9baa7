package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/lockscope/lockscope/lock/locktest/leaktest"
)

// TestMain is also the program: run starts its own executable, which is the test's.
func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{})
	if len(os.Args) > 1 && os.Args[1] == "-work" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	leaktest.Main(m)
}

// TestBeside is a short form of the run on the pages of package migration: no overlap, but in the controls.
func TestBeside(t *testing.T) {
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), []string{"-n", "200"}, &stdout, &stderr)
	t.Log("\n" + stdout.String())
	if status != 0 {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	if lines := strings.Count(stdout.String(), "\n"); lines != 1+4*len(pairs) {
		t.Errorf("%d lines", lines)
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range []string{"-n 0", "-library none", "extra", "-what"} {
		var stdout, stderr bytes.Buffer
		if status := run(t.Context(), strings.Fields(args), &stdout, &stderr); status != 2 {
			t.Errorf("%s: status %d, %s", args, status, &stderr)
		}
	}
}
