package operator

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// dirMode keeps the folder of the audit log to its owner and group.
const dirMode = 0o750

var errNoReason = errors.New(`--reason is missing: say why, such as --reason "disk swap, ticket 4711"`)

// ErrNoOperator reports an act for which nobody is known to be responsible.
var ErrNoOperator = errors.New("nobody is known to be responsible: name a person with --operator")

// OperatorOf is the person responsible for an act: the one named, or the user of this process with its host. It is "" if
// there is no such user: the act must not follow.
func NameOf(a *ui.App, named string) string {
	if named != "" {
		return named
	}
	name := cmp.Or(a.Env["USER"], a.Env["LOGNAME"], a.Env["USERNAME"], userOf(os.Getuid()))
	if host, err := os.Hostname(); err == nil && name != "" {
		name += "@" + host
	}
	return name
}

// nameOf is for a cron job or a container, which have no USER. An image may have no name for its uid, and Windows, which has
// USERNAME, has no uid.
func userOf(uid int) string {
	if uid < 0 {
		return ""
	}
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", uid)
}

// Operator are the flags of a command with which a person acts on a lock.
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
