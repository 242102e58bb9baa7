package child

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/lock"
)

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
