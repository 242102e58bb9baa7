// Package child runs a command while a lease is valid, and ends the command, with all
// processes of its group, before the lease ends. A watchdog, a process of its own, ends
// them when lockscope is killed or stopped.
package child

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
)

// Exit statuses of a command that did not run, as shells have them.
const (
	ExitCannotRun = 126
	ExitNotFound  = 127
)

// outputDelay is how long output of a command that has ended may take, where it is no file.
const outputDelay = time.Second

// Shared lets lockscope and a command write to the same place. A file needs no help.
func Shared(w io.Writer) io.Writer {
	if _, file := w.(*os.File); file {
		return w
	}
	return &shared{w: w}
}

type shared struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// Command is what to run. Files are passed on as they are.
type Command struct {
	Args     []string
	Env      []string
	In       io.Reader
	Out, Err io.Writer
}

// Check fails as Start would if the program is not there, or may not be executed.
func (c Command) Check() error {
	_, err := exec.LookPath(c.Args[0])
	return startError(c.Args[0], err)
}

func (c Command) cmd() *exec.Cmd {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Env, c.In, c.Out, c.Err
	cmd.WaitDelay = outputDelay
	return cmd
}

// startError gives an error the exit status that a shell gives it.
func startError(program string, err error) error {
	if err == nil {
		return nil
	}
	status := ExitCannotRun
	if isNotFound(err) {
		status = ExitNotFound
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return &ui.StatusError{Status: status, Err: fmt.Errorf("cannot run %q: %w", program, err)}
}

var errUsage = errors.New("put the name of the lock before -- and the command after it, as in: NAME -- COMMAND ARG")

// Arguments are a name, "--" and a command. The error does not repeat them: they may hold a password.
func Arguments(cmd *cobra.Command, args []string) error {
	if cmd.ArgsLenAtDash() != 1 || len(args) < 2 {
		return fmt.Errorf("%s: %w", cmd.CommandPath(), errUsage)
	}
	return lock.ValidateResource(args[0])
}

// RegisterKillAfter adds the flag --kill-after.
func RegisterKillAfter(set *pflag.FlagSet, d *time.Duration) {
	set.DurationVar(d, "kill-after", DefaultKillAfter, "kill the command if it runs this long after SIGTERM. "+
		"If the lock is about to end, this is a third of --ttl at the most")
}

// watchdogName is the only argument of the process that is a watchdog.
const watchdogName = "lockscope-watchdog"

// IsWatchdog reports that a process with these arguments is to call WatchdogMain and nothing else.
func IsWatchdog(args []string) bool { return len(args) == 2 && args[1] == watchdogName }

// Grant is what the environment of a command says about its lock.
type Grant struct {
	Resource string
	Fence    uint64
	Slot     int // -1: none
	Elected  bool
}

// Environment is env with the variables of the grant, and without those of another one.
func (g Grant) Environment(env ui.Env) (all []string) {
	for name, value := range env {
		if !slices.Contains(ui.GrantVars(), name) {
			all = append(all, name+"="+value)
		}
	}
	slices.Sort(all)
	fence := strconv.FormatUint(g.Fence, 10)
	all = append(all, ui.VarResource+"="+g.Resource, ui.VarFence+"="+fence)
	if g.Slot >= 0 {
		all = append(all, ui.VarSlot+"="+strconv.Itoa(g.Slot))
	}
	if g.Elected {
		all = append(all, ui.VarTerm+"="+fence)
	}
	return all
}

func isNotFound(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}

// DefaultKillAfter is how long a command may take to end after SIGTERM.
const DefaultKillAfter = 10 * time.Second

const (
	// glance is how often to look at the lease, at the least, and how long the watchdog sleeps at most: timers stand
	// still while the machine is suspended, and bootTime does not.
	glance = 250 * time.Millisecond
	// leftOver is how long processes that a command left behind may go on before they are asked to end, as those that
	// write the last of its output do.
	leftOver = time.Second
	// afterKill is how long to wait for what was killed and stays in the group: zombies whose parent forgets them.
	afterKill = time.Second
)

// Limits bound a command.
type Limits struct {
	TTL       time.Duration // of the lease
	MaxHold   time.Duration // after which the command is asked to end; 0: none
	KillAfter time.Duration // between SIGTERM and SIGKILL
	// KillAfterSignal bounds that time for signals that lockscope passes on, too.
	KillAfterSignal bool
}

// Margin is how long before the end of the lease a command is killed: a twentieth of the TTL.
func (l Limits) Margin() time.Duration { return l.TTL / 20 }

// Warning is how long before the end of the lease a command is asked to end: a third of the TTL and the margin, or less
// if KillAfter is shorter.
func (l Limits) Warning() time.Duration { return min(l.TTL/3, l.KillAfter) + l.Margin() }
