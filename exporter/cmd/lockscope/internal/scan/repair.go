package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/operator"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

var errNoRepair = errors.New("--yes, --min-age and --audit-log need --repair")

// repairFlags say what scan does about findings; nothing without --repair.
type repairFlags struct {
	action  string
	classes *ui.List
	yes     bool
	act     operator.Flags
}

func (r *repairFlags) register(set *pflag.FlagSet) {
	r.classes = ui.NewList("class", string(inspect.NoTTL))
	set.StringVar(&r.action, "repair", "", "`action` on confirmed findings: expire=1h or delete. "+
		"expire=1h lets the lock expire after that time, delete removes it. A dry run without --yes. "+
		"One scan repairs nothing younger than --min-age: use \"lockscope repair plan\"")
	set.Var(r.classes, "repair-classes", "classes of findings that --repair acts on")
	set.BoolVar(&r.yes, "yes", false, "carry out --repair; without it, a dry run. Needs --audit-log")
	r.act.Register(set, " (--yes needs it)")
	ui.Group(set, ui.Repair, "repair", "repair-classes", "yes")
	ui.CommandLineOnly(set, "repair", "yes")
}

// scanRepair is a repair by scan whose flags have been checked and whose log is open.
// A nil one repairs nothing.
type scanRepair struct {
	action  repair.Action
	dry     bool
	classes []inspect.Class
	log     *operator.Log
}

func (r *repairFlags) open(a *ui.App) (*scanRepair, error) {
	if r.action == "" {
		if r.yes || r.act.Given() {
			return nil, errNoRepair
		}
		return nil, nil
	}
	action, err := repair.ParseAction(r.action)
	if err != nil {
		return nil, fmt.Errorf("--repair: %w", err)
	}
	if !r.yes {
		action = action.DryRun()
	}
	classes, err := config.ParseClasses("repair-classes", r.classes.Values())
	if err != nil {
		return nil, err
	}
	log, err := operator.OpenFor(r.act.AuditLog, operator.NameOf(a, r.act.Operator), !r.yes, a.ErrOut)
	if err != nil {
		return nil, err
	}
	return &scanRepair{action: action, dry: !r.yes, classes: classes, log: log}, nil
}

func (p *scanRepair) close() error {
	if p == nil {
		return nil
	}
	return p.log.Close()
}

// run repairs one finding after the other. It goes on after a failure, but not
// when it cannot write down what it does.
func (p *scanRepair) run(ctx context.Context, s *scanner.Scanner, r report.Report) error {
	var errs []error
	left, young := 0, 0
	for _, f := range r.Findings {
		if !slices.Contains(p.classes, f.Class) || ctx.Err() != nil {
			continue
		}
		_, err, stop := p.log.Perform(operator.ActOn(f, p.action), p.dry, func() (repair.Result, error) {
			return s.Repair(ctx, f, p.action)
		})
		switch {
		case errors.Is(err, repair.ErrTooYoung):
			young++
			left++
		case operator.Refused(err):
			left++
		case err != nil:
			errs = append(errs, err)
		}
		if stop != nil {
			return errors.Join(append(errs, stop)...)
		}
	}
	if ctx.Err() != nil {
		errs = append(errs, ui.ErrInterrupted)
	}
	if left > 0 && !p.dry {
		errs = append(errs, leftAlone(left, young))
	}
	return errors.Join(errs...)
}

// leftAlone says that repairs were refused, each with a line of its own before.
func leftAlone(left, young int) error {
	text := fmt.Sprintf("left %s alone: repair is not known to be safe", inspect.Count(left, "key"))
	if young > 0 {
		text += fmt.Sprintf("; one scan cannot tell that %s existed for --min-age: use \"lockscope repair plan\", and later "+
			"\"lockscope repair apply\"", inspect.Count(young, "key"))
	}
	return errors.New(text)
}
