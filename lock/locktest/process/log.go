package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

const (
	// patience bounds every wait, on a machine that has much else to do.
	patience  = time.Minute
	pollEvery = 20 * time.Millisecond

	logLines = 15 // shown when something goes wrong
)

var errPatience = errors.New("not within a minute")

// Await returns the submatches of the first place in the log that matches. It fails
// with ErrExited if the program ends first, and after a minute.
func (p *Process) Await(ctx context.Context, what *regexp.Regexp) ([]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		ended := !p.Running() // before the log is read: nothing is added to it afterwards
		text, err := p.read()
		if err != nil {
			return nil, err
		}
		if found := what.FindStringSubmatch(text); found != nil {
			return found, nil
		}
		if ended {
			return nil, p.Err()
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s says %q: %w; its log ends with\n%s", p.name, what, context.Cause(ctx), p.Tail())
		case <-tick.C:
		}
	}
}

// listensOn is how programs on Prometheus' own web toolkit say where; newer ones name a component before.
var listensOn = regexp.MustCompile(`msg="Listening on"(?: component=\w+)? address=(127\.0\.0\.1:\d+)`)

// AwaitAddress returns the address on which a Prometheus or an Alertmanager says that it listens, with the errors of
// Await.
func (p *Process) AwaitAddress(ctx context.Context) (address string, err error) {
	found, err := p.Await(ctx, listensOn)
	if err != nil {
		return "", err
	}
	return found[1], nil
}

// Log returns all that this run has written to the log so far.
func (p *Process) Log() string {
	text, err := p.read()
	if err != nil {
		return err.Error()
	}
	return text
}

// Tail returns the last lines of Log.
func (p *Process) Tail() string {
	lines := strings.Split(strings.TrimSpace(p.Log()), "\n")
	return strings.Join(lines[max(0, len(lines)-logLines):], "\n")
}

// read leaves out what earlier runs have written to the same file.
func (p *Process) read() (string, error) {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return "", err
	}
	return string(text[min(int64(len(text)), p.logFrom):]), nil
}
