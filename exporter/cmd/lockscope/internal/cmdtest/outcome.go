package cmdtest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// Outcome is what one run of the program left behind.
type Outcome struct {
	Status   int
	Out, Err string
}

// Want checks the exit status, and that each of the texts was said.
func (o Outcome) Want(t testing.TB, status int, says ...string) {
	t.Helper()
	if o.Status != status {
		t.Errorf("exit %d, want %d\nstdout:\n%s\nstderr:\n%s", o.Status, status, o.Out, o.Err)
	}
	for _, text := range says {
		if !strings.Contains(o.Out+o.Err, text) {
			t.Errorf("%q is not in\nstdout:\n%s\nstderr:\n%s", text, o.Out, o.Err)
		}
	}
}

// WantNot checks that none of the texts was said.
func (o Outcome) WantNot(t testing.TB, secrets ...string) {
	t.Helper()
	for _, text := range secrets {
		if strings.Contains(o.Out+o.Err, text) {
			t.Errorf("%q is in\nstdout:\n%s\nstderr:\n%s", text, o.Out, o.Err)
		}
	}
}

// Decode reads standard output as one JSON document without unknown fields.
func (o Outcome) Decode(t testing.TB, v any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(o.Out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		t.Fatalf("%v in\n%s", err, o.Out)
	}
}

// Must ends the test at an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually waits for a condition of another process.
func Eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}
