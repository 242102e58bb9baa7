package operator

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// auditMode keeps the audit log to its owner and group: it names keys.
const auditMode = 0o640

// Log writes a line to disk before each act, and one with the outcome after it. It holds no lock's value or token.
type Log struct {
	file     *os.File // nil: stderr alone
	stderr   io.Writer
	operator string
	Plan     string // id of the plan that is carried out; "" if there is none
}

// ErrNoLog reports an act that nothing durable would record.
var ErrNoLog = errors.New("nothing durable would record what --yes does: name a file with --audit-log")

// OpenFor opens the log of a repair. Only a dry run needs neither a file nor an operator.
func OpenFor(path, operator string, dry bool, stderr io.Writer) (*Log, error) {
	switch {
	case dry:
	case path == "":
		return nil, ErrNoLog
	case operator == "":
		return nil, ErrNoOperator
	}
	return Open(path, operator, stderr)
}

// Open appends to a file, or with "" writes to standard error alone.
func Open(path, operator string, stderr io.Writer) (*Log, error) {
	l := &Log{stderr: stderr, operator: operator}
	if path == "" {
		return l, nil
	}
	var err error
	if l.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, auditMode); err != nil {
		return nil, fmt.Errorf("--audit-log: %w", err)
	}
	return l, nil
}

// Close closes the file, if there is one.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Act is one thing done to one key, as the log has it.
type Act struct {
	Node, Key string
	Class     inspect.Class
	Holder    string
	Identity  string // of the planned value; "" without a plan
	TTL       time.Duration
	Action    string
}

// ActOn is what the log says of a finding.
func ActOn(f report.Finding, a repair.Action) Act {
	return Act{Node: f.Node, Key: f.Key, Class: f.Class, Holder: f.Hold.Instance, TTL: f.TTL, Action: a.String()}
}

// Perform logs the intent, runs do, and logs the outcome. If it cannot log the intent, it
// does not run do. stop is the error of a line that could not be logged.
func (l *Log) Perform(a Act, dry bool, do func() (repair.Result, error)) (r repair.Result, err, stop error) {
	if !dry {
		if err := l.write("intent", a, "", false); err != nil {
			return r, nil, fmt.Errorf("--audit-log: %w: stopped repairing", err)
		}
	}
	r, err = do()
	outcome := string(r.Outcome)
	switch {
	case Refused(err):
		outcome = fmt.Sprintf("refused reason=%q", errors.Unwrap(err))
	case err != nil:
		outcome = fmt.Sprintf("failed error=%q", err)
	}
	if err := l.write("repair", a, " outcome="+outcome, true); err != nil {
		stop = fmt.Errorf("--audit-log: %w: stopped repairing", err)
	}
	return r, err, stop
}

// Refused says whether nothing was sent to a server because a repair would not be safe.
func Refused(err error) bool {
	for _, known := range []error{
		repair.ErrNotRepairable, repair.ErrNotConfirmed, repair.ErrTooYoung, repair.ErrIncomplete,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// write logs an intent or an outcome. Outcomes also go to standard error.
func (l *Log) write(word string, a Act, rest string, tell bool) error {
	plan := ""
	if l.Plan != "" {
		plan = " plan=" + l.Plan + " identity=" + a.Identity
	}
	return l.line(word, fmt.Sprintf("%s node=%s key=%q class=%s holder=%q ttl=%s action=%q%s",
		plan, a.Node, a.Key, a.Class, a.Holder, ui.TTL(a.TTL), a.Action, rest), tell)
}

// line has a line on disk before it returns. That standard error cannot be written, nothing can be done about.
func (l *Log) line(word, rest string, tell bool) error {
	line := fmt.Sprintf("%s %s operator=%q%s\n", time.Now().UTC().Format(time.RFC3339), word, l.operator, rest)
	if tell {
		_, _ = io.WriteString(l.stderr, line)
	}
	if l.file == nil {
		return nil
	}
	if _, err := io.WriteString(l.file, line); err != nil {
		return err
	}
	err := l.file.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil // a pipe or a terminal, which has no disk
	}
	return err
}
