package operator

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/scanner"
)

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
