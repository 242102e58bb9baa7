package audit

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/scanner"
)

// Flags are common to all that repairs.
type Flags struct {
	MinAge   time.Duration
	Operator string
	AuditLog string
}

// Register adds the flags; log is what the help says more of the log.
func (f *Flags) Register(set *pflag.FlagSet, log string) {
	set.DurationVar(&f.MinAge, "min-age", scanner.DefaultRepairMinAge,
		"leave alone what was not seen for so long, with the very same value, by lockscope itself")
	set.StringVar(&f.Operator, "operator", "", "who answers for it, for plan and log; without it the variable USER")
	set.StringVar(&f.AuditLog, "audit-log", "",
		"append what is about to be done, and what became of it, to this file, "+
			"a line each for every key: "+
			"what cannot be written down first is not done"+log)
	flags.CommandLineOnly(set, "min-age")
}

// Given reports that something is asked for that only a repair does.
func (f *Flags) Given() bool {
	return f.MinAge != scanner.DefaultRepairMinAge || f.AuditLog != ""
}
