package guide

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

// bodies returns the bodies of this package's functions, without indentation.
func bodies(t *testing.T) map[string]string {
	t.Helper()
	source, err := os.ReadFile("guide.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "guide.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			body := string(source[f.Body.Lbrace : f.Body.Rbrace-1])
			all[strings.TrimPrefix(strings.ReplaceAll("\n"+strings.Trim(body, "\n"), "\n\t", "\n"), "\n")+"\n"] = f.Name.Name
		}
	}
	return all
}

// TestPagesShowThisCode: every block of Go on the pages is a function of this package.
func TestPagesShowThisCode(t *testing.T) {
	known, shown := bodies(t), make(map[string]bool)
	pages, err := filepath.Glob("../../../*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "```go\n")[1:] {
			block, _, _ := strings.Cut(part, "```")
			if known[block] == "" {
				t.Errorf("%s shows\n%s\nwhich is no function of this package", filepath.Base(page), block)
			}
			shown[known[block]] = true
		}
	}
	for _, name := range known {
		if !shown[name] && !strings.HasPrefix(name, "charge") && name != "report" {
			t.Errorf("no page shows %s", name)
		}
	}
}

// TestTheCodeRuns against a server.
func TestTheCodeRuns(t *testing.T) {
	var clients []*redis.Client
	for _, s := range locktest.Servers(t, 3) {
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		defer c.Close()
		clients = append(clients, c)
	}
	locks, err := memlock.New(memlock.NewNodes(3))
	if err != nil {
		t.Fatal(err)
	}
	defer locks.Close()
	for name, f := range map[string]func(context.Context, *redis.Client, lock.Locker) error{
		"redsyncBefore":   func(ctx context.Context, c *redis.Client, _ lock.Locker) error { return redsyncBefore(ctx, c) },
		"redislockBefore": func(ctx context.Context, c *redis.Client, _ lock.Locker) error { return redislockBefore(ctx, c) },
		"stringsDuring":   stringsDuring,
		"nodeRedlockDuring": func(ctx context.Context, c *redis.Client, l lock.Locker) error {
			return nodeRedlockDuring(ctx, c, clients[1], clients[2], l)
		},
		"redissonDuring": redissonDuring,
		"shedLockDuring": shedLockDuring,
		"after":          func(ctx context.Context, _ *redis.Client, l lock.Locker) error { return after(ctx, l) },
		"shedLockAfter":  func(ctx context.Context, _ *redis.Client, l lock.Locker) error { return shedLockAfter(ctx, l) },
	} {
		if err := f(t.Context(), clients[0], locks); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
