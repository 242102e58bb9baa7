package operator

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
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

// dirMode keeps the folder of the audit log to its owner and group.
const dirMode = 0o750

var errNoReason = errors.New(`--reason is missing: say why, such as --reason "disk swap, ticket 4711"`)

// ErrNoOperator reports an act for which nobody is known to be responsible.
var ErrNoOperator = errors.New("nobody is known to be responsible: name a person with --operator")

// NameOf is the person responsible for an act: the one named, or the user of this process with its host. It is "" if
// there is no such user: the act must not follow.
func NameOf(a *ui.App, named string) string {
	if named != "" {
		return strings.TrimSpace(named)
	}
	name := cmp.Or(a.Env["USER"], a.Env["LOGNAME"], a.Env["USERNAME"], ui.UserOf(os.Getuid()))
	if host, err := os.Hostname(); err == nil && name != "" {
		name += "@" + host
	}
	return name
}

// person is the flags of a command with which a person acts on a lock.
type person struct {
	Reason string

	name, log string
}

// Register adds the flags.
func (o *person) Register(set *pflag.FlagSet) {
	set.StringVar(&o.Reason, "reason", "", "`text` that tells others why, up to 256 bytes")
	set.StringVar(&o.name, "operator", "", "`name` of the person responsible (default user@host)")
	set.StringVar(&o.log, "audit-log", "", "append a line to this `file` before each act, and one with its outcome. "+
		"If lockscope cannot write the first, it does nothing (default $HOME/.local/state/lockscope/audit.log)")
	ui.Group(set, "Operator", "reason", "operator", "audit-log")
	ui.CommandLineOnly(set, "reason")
}

// Validate refuses a reason or a name that nodes cannot store.
func (o *person) Validate(a *ui.App) error {
	switch {
	case strings.TrimSpace(o.Reason) == "":
		return errNoReason
	case o.Name(a) == "":
		return ErrNoOperator
	}
	if err := records.ValidateReason(o.Reason); err != nil {
		return fmt.Errorf("--reason: %w", err)
	}
	if err := records.ValidateBy(o.Name(a)); err != nil {
		return fmt.Errorf("--operator: %w", err)
	}
	return nil
}

// Name is the person responsible, as others read it.
func (o *person) Name(a *ui.App) string { return NameOf(a, o.name) }

// Open opens the log, and makes the folder of the default one.
func (o *person) Open(a *ui.App) (*Log, error) {
	path := o.log
	if path == "" {
		state := a.Env["XDG_STATE_HOME"]
		if state == "" && a.Env["HOME"] != "" {
			state = filepath.Join(a.Env["HOME"], ".local", "state")
		}
		if state == "" {
			return nil, errors.New("no place for the audit log: name a file with --audit-log")
		}
		path = filepath.Join(state, "lockscope", "audit.log")
		if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
			return nil, fmt.Errorf("the audit log: %w: name a file with --audit-log", err)
		}
	}
	return Open(path, o.Name(a), a.ErrOut)
}

// Intend writes down what is about to happen to a resource. The act must not follow if it fails.
func (l *Log) Intend(act, resource, rest string) error {
	if err := l.line("intent", fmt.Sprintf(" act=%s resource=%q%s", act, resource, rest), false); err != nil {
		return fmt.Errorf("--audit-log: %w: nothing was done", err)
	}
	return nil
}

// Done writes down the outcome of an act: what, or why it failed.
func (l *Log) Done(act, resource, what string, failed error) error {
	if failed != nil {
		what = fmt.Sprintf("failed error=%q", failed)
	}
	if err := l.line(act, fmt.Sprintf(" resource=%q outcome=%s", resource, cmp.Or(what, "done")), false); err != nil {
		return fmt.Errorf("--audit-log: the outcome is not written: %w", err)
	}
	return nil
}
