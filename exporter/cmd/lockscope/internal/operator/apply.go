package operator

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
)

const repairApplyHelp = `Carry out a plan of "lockscope repair plan". Without --yes it says what it would do.

apply touches a key only if it still holds the planned value, its TTL is unchanged, and lockscope
first saw that value at least --min-age ago. Name the same servers as for the plan. You can apply a
plan twice: finished keys are skipped.`

const repairApplyExample = `  lockscope repair apply plan.json --redis r1:6379,r2:6379,r3:6379          # a dry run
  lockscope repair apply plan.json --redis r1:6379,r2:6379,r3:6379 --yes
  lockscope repair apply plan.json --redis r1:6379 --yes --audit-log /var/log/lockscope-audit.log`

type repairApplyFlags struct {
	servers   servers.Flags
	act       Flags
	yes       bool
	redlock   bool
	terminate bool
	output    ui.Format
}

func applyCommand(a *ui.App) *cobra.Command {
	f := &repairApplyFlags{}
	cmd := ui.Page{
		Everyday: []string{
			"yes", "min-age", "operator", "audit-log", "redlock", "terminate", "output",
			"postgres", "etcd", "zookeeper", "redis", "redis-file", "redis-username",
			"redis-password-file",
		},
		Exit:   "0 every key is done or gone, 1 some were left alone, 2 error",
		Topics: []string{"repair", "json", "connection"},
	}.On(&cobra.Command{
		Use: "apply FILE", Short: "Carry out a plan", Long: repairApplyHelp, Example: repairApplyExample,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args[0]) },
	})
	f.register(cmd.Flags())
	return cmd
}

func (f *repairApplyFlags) register(set *pflag.FlagSet) {
	set.BoolVar(&f.yes, "yes", false, "carry out the plan; without it, a dry run")
	f.act.Register(set, " (default FILE.audit)")
	set.BoolVar(&f.redlock, "redlock", false, "treat the servers as all nodes of one Redlock without proof. "+
		"Needed for orphans on servers that do not prove it")
	set.BoolVar(&f.terminate, "terminate", false, "end sessions of PostgreSQL that are still idle in the transaction. "+
		"What they have not committed is lost")
	f.servers.Register(set)
	f.output.Register(set)
	ui.Group(set, ui.Repair, "yes", "redlock", "terminate")
	ui.CommandLineOnly(set, "yes", "terminate")
}

func (f *repairApplyFlags) run(ctx context.Context, a *ui.App, path string) (err error) {
	if f.act.MinAge < 0 {
		return fmt.Errorf("--min-age %v is negative", f.act.MinAge)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	p, err := repair.Read(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	s, done, err := f.open(a)
	if err != nil {
		return err
	}
	defer done()
	run, err := s.Begin(p)
	if err != nil {
		return err
	}
	return f.apply(ctx, a, path, p, func(i int) (repair.Result, error) {
		step := &p.Steps[i]
		if step.Action == string(inspect.Terminate) && !f.terminate {
			return repair.Result{}, &repair.Error{Node: step.Node, Key: step.Key, Action: repair.Terminate(), Err: errTerminate}
		}
		return run.Apply(ctx, i, !f.yes)
	})
}

var errTerminate = fmt.Errorf("%w: ending a session needs --terminate", repair.ErrNotRepairable)

// open makes a scanner; done closes it, and its servers' clients.
func (f *repairApplyFlags) open(a *ui.App) (s *scanner.Scanner, done func(), err error) {
	opts := []scanner.Option{scanner.WithRepairMinAge(f.act.MinAge)}
	if f.servers.Others.Named() {
		return scannerOf(a, &f.servers, &inspect.Rules{}, opts...)
	}
	nodes, err := f.servers.Redis.Open(a)
	if err != nil {
		return nil, nil, err
	}
	if f.redlock {
		opts = append(opts, scanner.WithOneRedlock())
	}
	s, err = scanner.New(servers.Clients(nodes), append(opts, scanner.WithNodeNames(servers.Names(nodes)...))...)
	if err != nil {
		servers.Release(nodes)
		return nil, nil, err
	}
	return s, func() {
		_ = s.Close()
		servers.Release(nodes)
	}, nil
}

// openLog opens none for a dry run that did not ask for one.
func (f *repairApplyFlags) openLog(a *ui.App, path string) (*Log, error) {
	log := f.act.AuditLog
	if log == "" && f.yes {
		log = path + ".audit"
	}
	return OpenFor(log, NameOf(a, f.act.Operator), !f.yes, a.ErrOut)
}

// apply goes on after a failure, but not when it cannot write down what it does.
func (f *repairApplyFlags) apply(ctx context.Context, a *ui.App, path string, p repair.Plan,
	do func(step int) (repair.Result, error),
) (err error) {
	log, err := f.openLog(a, path)
	if err != nil {
		return err
	}
	log.Plan = p.ID
	defer func() { err = errors.Join(err, log.Close()) }()
	var errs []error
	d := newApplyDocument(p, !f.yes)
	for i, step := range p.Steps {
		if ctx.Err() != nil {
			errs = append(errs, ui.ErrInterrupted)
			break
		}
		r, err, stop := log.Perform(actOfStep(step, !f.yes), !f.yes, func() (repair.Result, error) { return do(i) })
		d.Add(i, r, err)
		if err != nil && !Refused(err) {
			errs = append(errs, err)
		}
		if stop != nil {
			errs = append(errs, stop)
			break
		}
	}
	if err := errors.Join(append(errs, d.write(a, f.output))...); err != nil {
		return err
	}
	if d.Changed+d.Refused > 0 {
		return &ui.StatusError{Status: ui.ExitFindings}
	}
	return nil
}

// actOfStep is what the log says of a step. A key that is no base64 is refused later.
func actOfStep(s repair.Step, dry bool) Act {
	key, err := base64.StdEncoding.DecodeString(s.KeyBase64)
	if err != nil {
		key = []byte(s.Key)
	}
	ttl := time.Duration(-1)
	if s.TTL != nil {
		ttl = time.Duration(*s.TTL * float64(time.Second))
	}
	act := Act{Node: s.Node, Key: string(key), Class: s.Class, Holder: s.Holder, Identity: s.Identity, TTL: ttl,
		Action: s.Action}
	if dry {
		act.Action += " (dry run)"
	}
	if s.Backend != "" {
		act.Identity = strconv.Quote(s.Identity)
	}
	return act
}
