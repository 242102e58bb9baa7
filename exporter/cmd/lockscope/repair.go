package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
	"github.com/lockscope/lockscope/scanner"
)

// auditMode keeps the audit log to its owner and group: it names keys.
const auditMode = 0o640

var errNoRepair = errors.New("--yes and --audit-log mean nothing without --repair")

// repairFlags say what to do about findings; nothing without --repair.
type repairFlags struct {
	action   string
	classes  *flags.List
	yes      bool
	auditLog string
}

func (r *repairFlags) register(set *pflag.FlagSet) {
	r.classes = flags.NewList("class", string(scanner.NoTTL))
	set.StringVar(&r.action, "repair", "", "act on confirmed findings: expire=1h lets the lock expire after that time, delete removes it; "+
		"a dry run unless --yes is given")
	set.Var(r.classes, "repair-classes", "classes of findings that --repair acts on")
	set.BoolVar(&r.yes, "yes", false, "carry out --repair instead of saying what it would do")
	set.StringVar(&r.auditLog, "audit-log", "", "append what --repair is about to do, and what became of it, to this file, a line each for every key: "+
		"what cannot be written down first is not done")
	flags.CommandLineOnly(set, "repair", "yes")
}

// repairPlan is a repair whose flags have been checked and whose log is open. A
// nil one repairs nothing.
type repairPlan struct {
	action  scanner.Action
	dry     bool
	classes []scanner.Class
	log     *os.File // nil: stderr alone
}

func (r *repairFlags) plan() (*repairPlan, error) {
	if r.action == "" {
		if r.yes || r.auditLog != "" {
			return nil, errNoRepair
		}
		return nil, nil
	}
	action, err := scanner.ParseAction(r.action)
	if err != nil {
		return nil, fmt.Errorf("--repair: %w", err)
	}
	if !r.yes {
		action = action.DryRun()
	}
	classes, err := parseClasses("repair-classes", r.classes.Values())
	if err != nil {
		return nil, err
	}
	p := &repairPlan{action: action, dry: !r.yes, classes: classes}
	if r.auditLog != "" {
		if p.log, err = os.OpenFile(r.auditLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, auditMode); err != nil {
			return nil, fmt.Errorf("--audit-log: %w", err)
		}
	}
	return p, nil
}

func (p *repairPlan) close() error {
	if p == nil || p.log == nil {
		return nil
	}
	return p.log.Close()
}

// run repairs one finding after the other. It goes on after a failure, but not
// when it cannot write down what it does.
func (p *repairPlan) run(ctx context.Context, a *app, s *scanner.Scanner, r scanner.Report) error {
	var errs []error
	for _, f := range r.Findings {
		if !slices.Contains(p.classes, f.Class) || ctx.Err() != nil {
			continue
		}
		if err := p.intend(f); err != nil {
			return errors.Join(append(errs, fmt.Errorf("--audit-log: %w: stopped repairing", err))...)
		}
		done, err := s.Repair(ctx, f, p.action)
		if err != nil {
			errs = append(errs, err)
		}
		if err := p.audit(a.errOut, auditLine(time.Now(), f, done, err)); err != nil {
			return errors.Join(append(errs, fmt.Errorf("--audit-log: %w: stopped repairing", err))...)
		}
	}
	if ctx.Err() != nil {
		errs = append(errs, errInterrupted)
	}
	return errors.Join(errs...)
}

func (p *repairPlan) audit(stderr io.Writer, line string) error {
	_, _ = io.WriteString(stderr, line) // the file is the record; without one, nothing can be done about stderr
	if p.log == nil {
		return nil
	}
	return p.write(line)
}

// intend has it on disk what is about to be done: of an act whose outcome is not in the
// log, it is known that it may have been.
func (p *repairPlan) intend(f scanner.Finding) error {
	if p.log == nil || p.dry {
		return nil
	}
	return p.write(fmt.Sprintf("%s intent %s\n", time.Now().UTC().Format(time.RFC3339), auditFields(f, p.action)))
}

func (p *repairPlan) write(line string) error {
	if _, err := io.WriteString(p.log, line); err != nil {
		return err
	}
	err := p.log.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil // a pipe or a terminal, which has no disk
	}
	return err
}

func auditFields(f scanner.Finding, a scanner.Action) string {
	return fmt.Sprintf("node=%s key=%q class=%s holder=%q ttl=%s action=%q", f.Node, f.Key, f.Class, f.Hold.Instance, ttlText(f.TTL), a)
}

// auditLine has no lock's value or token: a finding holds none.
func auditLine(at time.Time, f scanner.Finding, r scanner.Repaired, err error) string {
	outcome := string(r.Outcome)
	if err != nil {
		outcome = fmt.Sprintf("failed error=%q", err.Error())
	}
	return fmt.Sprintf("%s repair %s outcome=%s\n", at.UTC().Format(time.RFC3339), auditFields(f, r.Action), outcome)
}
