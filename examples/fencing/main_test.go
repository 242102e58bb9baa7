package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	redis.SetLogger(&logging.VoidLogger{})
	goleak.VerifyTestMain(m)
}

func TestStory(t *testing.T) {
	for name, dsn := range databases(t) {
		t.Run(name, func(t *testing.T) {
			var args []string
			if strings.HasPrefix(dsn, "postgres://") {
				args = []string{"-dsn", dsn}
			}
			t.Setenv("TMPDIR", t.TempDir())
			tell(t, args...)
			left, err := os.ReadDir(os.TempDir())
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestStoryOnMariaDB(t *testing.T) {
	dsn, ok := startMariaDB(t)
	if !ok {
		t.Fatal("no MariaDB server is installed: apt-get install mariadb-server-core")
	}
	if out := tell(t, "-mysql", dsn); !strings.Contains(out, "MySQL        REJECTED. 150 stays") {
		t.Error("nothing was refused on MariaDB")
	}
}

// tell runs the program and checks what it wrote.
func tell(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), args, &stdout, &stderr); status != 0 {
		t.Fatalf("exit status %d\n%s%s", status, &stdout, &stderr)
	}
	out := stdout.String()
	t.Log("\n" + out)
	at := 0
	for _, want := range []string{
		`A  acquires account:7 with fencing token \d+`,
		`A  reads 100 and decides to write 130`,
		`A's lease ends \(lock: lease lost: ".*" was lost at .*, and others may hold it now\)`,
		`B  acquires account:7 with fencing token \d+, which is higher`,
		`B  reads 100, writes 150`,
		`A  goes on .* and writes 130`,
		`without a check: accepted. 150 becomes 130`,
		`with the check:  REJECTED. 150 stays`,
		`store: stale fencing token: \d+ for "account:7", after \d+`,
		`A  reads 150, writes 180`,
		`= 180    with fencing tokens: 180    without: 160`,
		`elsewhere, where B has written 150`,
		`Redis +REJECTED. 150 stays`,
		`S3 \(fake\) +REJECTED. 150 stays`,
	} {
		found := regexp.MustCompile(want).FindStringIndex(out[at:])
		if found == nil {
			t.Errorf("no %q, or not in its place", want)
			continue
		}
		at += found[1]
	}
	return out
}

func TestBadFlags(t *testing.T) {
	tests := []struct {
		args    string
		status  int
		message string
	}{
		{"-dsn mysql://x", 2, "must begin with postgres://"},
		{"-what", 2, "flag provided but not defined"},
		{"extra", 2, `unexpected argument "extra"`},
		{"-redis a:1,a:1", 1, "both a:1"},
		{"-dsn postgres://:secret@127.0.0.1:1/x", 1, "refused"},
		{"-mysql root:secret@tcp(127.0.0.1:1)/x", 1, "refused"},
		{"-s3 http://key:secret@127.0.0.1:1", 1, "refused"},
		{"-s3 nowhere", 1, "-s3 must be like"},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(t.Context(), strings.Fields(test.args), &stdout, &stderr); status != test.status {
				t.Errorf("exit status %d, want %d", status, test.status)
			}
			if !strings.Contains(stderr.String(), test.message) || strings.Contains(stderr.String(), "secret") {
				t.Errorf("message %q, want %q", &stderr, test.message)
			}
		})
	}
}
