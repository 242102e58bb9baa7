package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"testing"
	"time"
)

// TestMain runs a candidate where the story starts one: the program is the test's.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-candidate" {
		main()
	}
	os.Exit(m.Run())
}

// TestStory: three leaders, one after the other, and then none.
func TestStory(t *testing.T) {
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if code := run(ctx, nil, &out, &errs); code != 0 {
		t.Fatalf("status %d: %s\n%s", code, errs.String(), out.String())
	}
	want := regexp.MustCompile(`(?s)is seen to lead .*kill -KILL .*is seen to lead .*` +
		`kill -TERM .*stops: .*is seen to lead .*kill -TERM .*no leader is seen`)
	if !want.Match(out.Bytes()) {
		t.Errorf("the story is\n%s", out.String())
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-candidate", "a"}, {"extra"}, {"-unknown"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != 2 || errs.Len() == 0 {
			t.Errorf("%q: status %d, %q", args, code, errs.String())
		}
	}
}
