// Package leaktest fails tests that leave goroutines behind.
//
// It is for lockscope's own packages.
package leaktest

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long goroutines may take to end. For up to a second after its client was closed, go-redis tries to
// reach a server.
const patience = 5 * time.Second

// Main runs the tests and exits. It fails if they pass and leave goroutines behind.
func Main(m interface{ Run() int }) { os.Exit(run(m, patience, os.Stderr)) }

func run(m interface{ Run() int }, patience time.Duration, out io.Writer) (status int) {
	before := Running()
	status = m.Run()
	if status != 0 {
		return status
	}
	if err := before.outlived(patience); err != nil {
		fmt.Fprintln(out, err)
		return 1
	}
	return 0
}

// Goroutines are the stacks of goroutines, by their number.
type Goroutines map[string]string

// Running returns the goroutines that exist, without that of os/signal, which never ends.
func Running() Goroutines {
	buf := make([]byte, 16<<20)
	all := make(Goroutines)
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if number, _, _ := strings.Cut(stack, " ["); !strings.Contains(stack, "\nos/signal.loop(") {
			all[number] = stack
		}
	}
	return all
}

// Check fails the test unless all goroutines end that started after before.
func Check(t testing.TB, before Goroutines) {
	t.Helper()
	if err := before.outlived(patience); err != nil {
		t.Error(err)
	}
}

func (before Goroutines) outlived(within time.Duration) error {
	for end := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		var left []string
		for number, stack := range Running() {
			if before[number] == "" {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d goroutines left behind:\n%s", len(left), strings.Join(left, "\n\n"))
		}
	}
}
