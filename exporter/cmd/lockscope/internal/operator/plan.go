package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/repair"
)

const repairPlanHelp = `Write a plan: the leaked locks to repair, and why. Changes nothing on the servers.

plan sweeps like scan, and confirms with a second read. The file says what to do to which key, and
when lockscope first saw its value. It contains no values, is valid for 24 hours and must not be
edited.`

const repairPlanExample = `  lockscope repair plan --redis r1:6379,r2:6379,r3:6379 --out plan.json
  lockscope repair plan --redis r1:6379 --classes no_ttl,orphan --action delete --out plan.json
  lockscope repair plan --etcd etcd-0:2379 --prefix /locks/ --out plan.json`

// planMode keeps a plan to its owner and group: it names keys.
const planMode = 0o640

type repairPlanFlags struct {
	servers  servers.Flags
	set      *pflag.FlagSet
	sweep    config.SweepFlags
	classes  *ui.List
	action   string
	out      string
	operator string
	output   ui.Format
}

func planCommand(a *ui.App) *cobra.Command {
	f := &repairPlanFlags{classes: ui.NewList("class", string(inspect.NoTTL))}
	cmd := ui.Page{
		Everyday: []string{
			"redis", "redis-file", "postgres", "etcd", "zookeeper", "prefix", "pattern",
			"max-ttl", "max-hold", "out", "classes", "action", "operator", "output",
		},
		Exit:   "0 the plan is written; 3 it is, but the sweep was incomplete; 2 error",
		Topics: []string{"repair", "findings", "json", "connection"},
	}.On(&cobra.Command{
		Use: "plan", Short: "Write a plan: the locks to repair, and why", Long: repairPlanHelp,
		Example: repairPlanExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	})
	set := cmd.Flags()
	set.StringVar(&f.out, "out", "", "new `file` for the plan")
	set.Var(f.classes, "classes", "classes of findings to repair")
	set.StringVar(&f.action, "action", repair.Expire(time.Hour).String(),
		"`action` on each key. expire=1h lets the lock expire after that time, delete removes it. "+
			"For Redis only: in other systems it follows from the finding")
	set.StringVar(&f.operator, "operator", "", "`name` of the person who makes the plan (default user@host)")
	f.set = set
	f.servers.Register(set)
	f.sweep.Register(set, 0)
	f.output.Register(set)
	ui.Group(set, "Plan", "out", "classes", "action", "operator")
	return cmd
}

func (f *repairPlanFlags) run(ctx context.Context, a *ui.App) error {
	if f.out == "" {
		return errors.New("--out is missing: name a new file for the plan")
	}
	action, err := repair.ParseAction(f.action)
	if err != nil {
		return fmt.Errorf("--action: %w", err)
	}
	classes, err := config.ParseClasses("classes", f.classes.Values())
	if err != nil {
		return err
	}
	if f.servers.Others.Named() && f.set.Changed("action") && action != repair.Delete() {
		return errAction
	}
	by := NameOf(a, f.operator)
	if by == "" {
		return ErrNoOperator
	}
	s, done, err := f.open(a)
	if err != nil {
		return err
	}
	defer done()
	report, err := s.Sweep(ctx)
	if ctx.Err() != nil {
		return ui.ErrInterrupted
	}
	p, failed := s.Plan(ctx, report, by, action, classes...)
	if failed != nil {
		if ctx.Err() != nil {
			return ui.ErrInterrupted
		}
		return errors.Join(err, failed)
	}
	if failed := writePlan(f.out, p); failed != nil {
		return errors.Join(err, failed)
	}
	if err := errors.Join(err, f.show(a, p)); err != nil {
		return err
	}
	if len(p.Gaps) > 0 {
		return &ui.StatusError{Status: ui.ExitIncomplete}
	}
	return nil
}

// open makes a scanner; done closes it, and its servers' clients.
func (f *repairPlanFlags) open(a *ui.App) (s *scanner.Scanner, done func(), err error) {
	if f.servers.Others.Named() {
		rules, err := f.sweep.Rules()
		if err != nil {
			return nil, nil, err
		}
		return scannerOf(a, &f.servers, rules, f.sweep.SystemOptions()...)
	}
	nodes, err := f.servers.Redis.Open(a)
	if err != nil {
		return nil, nil, err
	}
	replicas, err := f.sweep.OpenReplicas(a, &f.servers.Redis)
	if err != nil {
		servers.Release(nodes)
		return nil, nil, err
	}
	opts, err := f.sweep.Options(nodes)
	if len(replicas) > 0 {
		opts = append(opts, scanner.WithReplicas(servers.Clients(replicas)...))
	}
	if err == nil {
		s, err = scanner.New(servers.Clients(nodes), opts...)
	}
	if err != nil {
		servers.Release(append(nodes, replicas...))
		return nil, nil, err
	}
	return s, func() {
		_ = s.Close()
		servers.Release(append(nodes, replicas...))
	}, nil
}

// writePlan never replaces a file: it may be a plan that was signed off.
func writePlan(path string, p repair.Plan) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, planMode)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("--out: %w", errors.Join(err, os.Remove(path)))
	}
	return nil
}

// show prints the plan: for people, or as the file has it.
func (f *repairPlanFlags) show(a *ui.App, p repair.Plan) error {
	if f.output == ui.JSON {
		return ui.WriteJSON(a.Out, p)
	}
	opt, text := ui.Layout{Width: ui.Terminal(a.Out)}, ""
	if len(p.Steps) > 0 {
		head := []string{"ACTION", "CLASS", "NODE", "KEY", "TTL", "HOLDER", "IDENTITY", "MAY BE REUSED", "FIRST SEEN",
			"EVIDENCE"}
		text = ui.TableText(head, planRows(p), opt)
	}
	if len(p.Refused) > 0 {
		var rows [][]string
		for _, r := range p.Refused {
			rows = append(rows, []string{string(r.Class), r.Node, r.Key, r.Reason})
		}
		text += "\n" + ui.TableText([]string{"CLASS", "NODE", "KEY", "NOT PLANNED BECAUSE"}, rows, opt)
	}
	text += fmt.Sprintf("\nplan %s: %s to repair, %s left out; by %s, until %s\n", p.ID,
		inspect.Count(len(p.Steps), "key"), inspect.Count(len(p.Refused), "finding"), ui.Printable(p.Operator),
		p.Expires.Format(time.RFC3339))
	if len(p.Steps) > 0 {
		text += fmt.Sprintf(
			"wait until lockscope has seen each value for %v (--min-age), then run: lockscope repair apply %s\n",
			scanner.DefaultRepairMinAge, ui.Printable(f.out))
	}
	if kept := keptSteps(p); kept > 0 {
		text += fmt.Sprintf("%s with a value that its process may use again (MAY BE REUSED): "+
			"apply repairs such a key only if nobody used it since (lockscope help repair)\n", inspect.Count(kept, "key"))
	}
	for _, g := range p.Gaps {
		text += fmt.Sprintf("INCOMPLETE: %s: %s %s\n", g.Reason, g.Node, ui.Printable(g.Detail))
	}
	_, err := fmt.Fprint(a.Out, text)
	return err
}

// keptSteps counts the steps whose value cannot tell a hold from the next one of the same process.
func keptSteps(p repair.Plan) (n int) {
	for _, s := range p.Steps {
		if s.Kept {
			n++
		}
	}
	return n
}

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func planRows(p repair.Plan) (rows [][]string) {
	for _, s := range p.Steps {
		ttl := time.Duration(-1)
		if s.TTL != nil {
			ttl = time.Duration(*s.TTL * float64(time.Second))
		}
		key := s.Key
		if s.Place != "" {
			key = ui.Printable(s.Place) + ": " + key
		}
		rows = append(rows, []string{
			s.Action, string(s.Class), s.Node, key, ui.TTL(ttl), state.HolderName(s.Holder, ttl < 0), s.Identity, yesOrNo(s.Kept),
			s.FirstSeen.Format(time.RFC3339),
			s.Evidence,
		})
	}
	return rows
}
