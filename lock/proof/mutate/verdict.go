package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// verdict is what a bug came to.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "SURVIVED"
	failed   verdict = "ERROR" // neither is known
	same     verdict = "equivalent"
)

// result is a bug's verdict.
type result struct {
	bug
	verdict verdict
	how     string // it was killed: the first line that says so
	output  string // of its killer
	err     error
	took    time.Duration
}

// judge says what a run of the killer makes of a bug. A test that did not run, a script that is
// none and, unless it was to be, a test that does not end show nothing.
func judge(b bug, s testRun) (v verdict, how string, err error) {
	switch {
	case !s.begun:
		return failed, "", fmt.Errorf("%s did not run:\n%s", b.killer.run, s.output)
	case s.passed && b.equivalent != "":
		return same, "", nil
	case s.passed:
		return survived, "", nil
	case b.equivalent != "":
		return failed, "", fmt.Errorf("it is said to be equivalent, and %s notices it:\n%s", b.killer.run, s.output)
	case noScript.MatchString(s.output):
		return failed, "", fmt.Errorf("the script with the bug is none:\n%s", s.output)
	case s.timedOut && !b.killer.hangs:
		return failed, "", errors.New("the test did not end, which counts only where the patch says so")
	}
	return killed, firstComplaint(s.output), nil
}

// noScript is how Redis and PostgreSQL refuse a script or a function that is none.
var noScript = regexp.MustCompile(`Error compiling script|@user_script:|\(SQLSTATE 42[0-9A-Z]{3}\)`)

// complaint is a line by which a test says what is wrong.
var complaint = regexp.MustCompile(`^\s+\w+\.go:\d+: |^panic: |^fatal error: |^goleak: `)

// firstComplaint is the first such line.
func firstComplaint(output string) string {
	for line := range strings.Lines(output) {
		if complaint.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	return "it fails"
}

// hasBegun reports that a test of this name was begun, and where a subtest is named, one of
// those.
func hasBegun(output, name string) bool {
	for line := range strings.Lines(output) {
		begun, ok := strings.CutPrefix(strings.TrimSpace(line), "=== RUN ")
		if ok && strings.Count(begun, "/") >= strings.Count(name, "/") && matches(strings.TrimSpace(begun), name) {
			return true
		}
	}
	return false
}

// matches reports that the name of a test that ran is the one meant, or of a subtest of it.
func matches(ran, meant string) bool {
	names := strings.Split(ran, "/")
	for i, part := range strings.Split(meant, "/") {
		if i >= len(names) {
			return false
		}
		if ok, err := regexp.MatchString("^(?:"+part+")$", names[i]); err != nil || !ok {
			return false
		}
	}
	return true
}
