package repair

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
)

const repairHelp = `Repair lets leaked locks expire, or deletes them, in two steps:

  lockscope repair plan   sweeps and writes down what would be done to which key, and why
  lockscope repair apply  carries out that plan, when it was read and is old enough

A plan says of each key which value it held, as a digest, and since when that was seen. Only
keys that still hold it are touched, and only if it was first seen --min-age before. So:
make a plan, read it, wait, apply it; a process that sweeps all the time is not needed.

Never touched are locks whose value does not tell its owner from another one: constants such
as 1, names of hosts, short or very long values, values that several keys have. Nor are keys
on servers, or in slots, that were not read to their end. They are listed with the reason.

A process may have the same value for its next hold: Redisson and Spring do, and a UUID may
be such a value. Then value and age do not tell whether the lock was released and taken anew.
Such a key is touched only if it ends when it was to end, or if OBJECT IDLETIME proves that
nobody has used it since the plan was made. Whoever tries the lock uses the key; before Redis
7.2 so does a sweep, such as that of lockscope serve. Under an LFU policy there is no idle
time. What cannot be told apart is left for you to look at.

Exit status: see the two commands.`

const repairExample = `  lockscope repair plan --redis r1:6379,r2:6379,r3:6379 --action expire=1h -o plan.json
  lockscope repair apply plan.json --redis r1:6379,r2:6379,r3:6379         # says what it would do
  lockscope repair apply plan.json --redis r1:6379,r2:6379,r3:6379 --yes`

// Command is lockscope repair.
func Command(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "repair", Short: "Let leaked locks expire, or delete them: a plan first, then the act", Long: repairHelp,
		Example: repairExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New("repair plan or repair apply is meant; see lockscope repair --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	plan, apply := planCommand(a), applyCommand(a)
	plan.Args, apply.Args = app.NoArguments, onePlan
	for _, sub := range []*cobra.Command{plan, apply} {
		sub.Flags().SortFlags = false
		flags.Document(sub.Flags())
		cmd.AddCommand(sub)
	}
	return cmd
}

// onePlan does not repeat the arguments: one may be a URL with a password.
func onePlan(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("the file of one plan is needed, and nothing else but flags: lockscope repair apply FILE " +
			"--redis URL")
	}
	return nil
}
