// Package operator is what a person does to locks, the commands hold, revoke and repair, and the log that has each act
// on disk before it is done, and its outcome after it.
package operator

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
)

const repairHelp = `Let leaked locks expire, or delete them: make a plan, read it, wait, apply it.

repair touches a key only if both are true:
  - it still holds the value that the plan saw, which the plan keeps as a digest;
  - lockscope first saw that value at least --min-age (10m) ago.

repair never touches these keys, and lists them with the reason:
  - keys whose value does not identify its owner: constants such as 1, host names, short or very
    long values, and values that several keys share;
  - keys on servers, or in slots, that were not read completely.

If a read/write lock has several readers, repair expires only the one in the plan, unless it is an
orphan that was renewed since. A key of readers without a TTL gets the TTL of its last reader;
delete removes only expired readers.

Some processes use one value for all their locks, and any UUID, hash or long random text may be one.
Only tokens of lockscope and redsync and values of ShedLock belong to one lease: the plan marks all
others MAY BE REUSED. plan watches such a key for some seconds, and apply touches it only if OBJECT
IDLETIME proves that nobody has used it since. A server without idle times, such as one with an LFU
policy, gets no such repair. If a lease of lockscope is held too long, its holder still renews it:
end it with "lockscope revoke".

In etcd and ZooKeeper, repair deletes keys and nodes that no lease or session will remove. In
PostgreSQL, only with --terminate, it ends sessions that are idle in a transaction.

apply writes a line to the audit log before each act, and one with the outcome after it: done,
would_do, gone, changed (value or TTL differ: not touched), refused or failed.`

const repairExample = `  lockscope repair plan --redis r1:6379,r2:6379,r3:6379 --action expire=1h --out plan.json
  lockscope repair apply plan.json --redis r1:6379,r2:6379,r3:6379         # a dry run
  lockscope repair apply plan.json --redis r1:6379,r2:6379,r3:6379 --yes`

// Repair is lockscope repair.
func Repair(a *ui.App) *cobra.Command {
	cmd := ui.Page{Topics: []string{"findings", "json", "exit-codes"}}.On(&cobra.Command{
		Use: "repair", Short: "Let leaked locks expire, or delete them: plan first, then apply", Long: repairHelp,
		Example: repairExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New(
					"unknown command below repair: use \"lockscope repair plan\" or \"lockscope repair apply\"")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	})
	plan, apply := planCommand(a), applyCommand(a)
	apply.Args = onePlan
	cmd.AddCommand(plan, apply)
	return cmd
}

// onePlan does not repeat the arguments: one may be a URL with a password.
func onePlan(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("repair apply takes one plan, not %d arguments: use \"lockscope repair apply FILE "+
			"--redis URL\"", len(args))
	}
	return nil
}

// Flags are those of all commands that repair.
type Flags struct {
	MinAge   time.Duration
	Operator string
	AuditLog string
}

// Register adds the flags; log is what the help adds about the log.
func (f *Flags) Register(set *pflag.FlagSet, log string) {
	set.DurationVar(&f.MinAge, "min-age", scanner.DefaultRepairMinAge,
		"repair only values first seen this long ago")
	set.StringVar(&f.Operator, "operator", "", "`name` of the person responsible, for the log (default user@host)")
	set.StringVar(&f.AuditLog, "audit-log", "",
		"append a line to this `file` for each act"+log+". "+
			"One line is written before the act and one with its outcome after it. "+
			"If lockscope cannot write the first, it does nothing")
	ui.Group(set, ui.Repair, "min-age", "operator", "audit-log")
	ui.CommandLineOnly(set, "min-age")
}

// Given reports whether a flag is set that only a repair uses.
func (f *Flags) Given() bool {
	return f.MinAge != scanner.DefaultRepairMinAge || f.AuditLog != ""
}

var (
	errOneSystem = errors.New("a plan is for one system: name Redis servers, --postgres, --etcd or --zookeeper, and " +
		"make a plan for each")
	errAction = errors.New("--action is for Redis: leave it out with --postgres, --etcd and --zookeeper")
)

// scannerOf makes a Scanner of the system beside Redis that the flags name; done closes it.
func scannerOf(a *ui.App, f *servers.Flags, r *inspect.Rules, opts ...scanner.Option) (s *scanner.Scanner, done func(),
	err error) {
	all, err := f.Systems(a, r)
	if err == nil && (len(all) != 1 || f.Redis.Named()) {
		err = errOneSystem
	}
	if err == nil {
		s, err = all[0].Scanner(opts...)
	}
	done = func() {
		if s != nil {
			_ = s.Close()
		}
		for _, one := range all {
			one.Close()
		}
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return s, done, nil
}
