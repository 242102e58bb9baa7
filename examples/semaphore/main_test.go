package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"testing"
	"time"
)

// TestMain runs the other process where the story starts it: the program is the test's.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-hold" {
		main()
	}
	os.Exit(m.Run())
}

// TestStory: three permits, no fourth, and one of those that a killed process had.
func TestStory(t *testing.T) {
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if code := run(ctx, nil, &out, &errs); code != 0 {
		t.Fatalf("status %d: %s\n%s", code, errs.String(), out.String())
	}
	want := regexp.MustCompile(`(?s)has two of the 3 permits.*has the third: slot \d, .*` +
		`no permit is free: 3 slots; 1 in use by this process; .*kill -KILL .*slot \d is free again`)
	if !want.Match(out.Bytes()) {
		t.Errorf("the story is\n%s", out.String())
	}
	t.Log("\n" + out.String())
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-hold", "1"}, {"-hold", "-1", "-redis", "a:1"}, {"extra"}, {"-unknown"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != 2 || errs.Len() == 0 {
			t.Errorf("%q: status %d, %q", args, code, errs.String())
		}
	}
}
