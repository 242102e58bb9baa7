package discover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/discover"
)

const discoverHelp = `Detect which lock libraries use these servers, and suggest a configuration. Only reads.

discover recognises the locks of some 40 libraries for Go, Java, Node.js, Python, Ruby, .NET, PHP,
Rust and Elixir: lockscope, redsync, redislock, asynq, Redisson, ShedLock, node-redlock, BullMQ,
redis-py, celery-singleton, sidekiq-unique-jobs, Hangfire, Laravel and others. Tokens that several
libraries write are named as what they are, such as UUID token. It never prints a value.

Confidence is high if the form is one library's own, medium if the form is common and the name
suggests a lock, low for a guess. A sample can miss locks that are rarely held: run it while they
are. Read the suggested file before you use it: its limits follow what was seen.`

const discoverExample = `  lockscope discover --redis r1:6379,r2:6379,r3:6379
  lockscope discover --redis r1:6379 --sample 1000000 --out lockscope.yaml
  lockscope discover --etcd etcd-0:2379,etcd-1:2379,etcd-2:2379`

// exampleWidth clips keys, whose names may reveal more than a terminal should show.
const exampleWidth = 48

type discoverFlags struct {
	servers  servers.Flags
	sample   int
	pageSize int
	pause    time.Duration
	out      string
	format   ui.Format
}

// Command is lockscope discover.
func Command(a *ui.App) *cobra.Command {
	f := &discoverFlags{}
	cmd := ui.Page{
		Everyday: []string{
			"redis", "redis-file", "postgres", "etcd", "zookeeper",
			"cluster", "output", "out", "sample", "page-size", "pause",
		},
		Exit:   "0, or 2 if a server could not be sampled",
		Topics: []string{"connection", "config", "json"},
	}.On(&cobra.Command{
		Use: "discover", Short: "Detect which lock libraries use these servers, and suggest a configuration",
		Long: discoverHelp, Example: discoverExample,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	})
	set := cmd.Flags()
	f.servers.Register(set)
	set.StringVar(&f.out, "out", "", "write a suggested configuration to this new `file`. "+
		"Guesses are comments in it; it has no password")
	f.format.Register(set)
	set.IntVar(&f.sample, "sample", discover.DefaultSample, "keys to look at on each server or cluster")
	set.IntVar(&f.pageSize, "page-size", scanner.DefaultPageSize,
		"keys per SCAN call (COUNT). The server answers nobody else meanwhile")
	set.DurationVar(&f.pause, "pause", scanner.DefaultPause,
		"pause between two pages of a server. 0 is fastest, with the highest load")
	ui.Group(set, ui.Result, "output", "out")
	ui.Group(set, ui.Load, "sample", "page-size", "pause")
	return cmd
}

func (f *discoverFlags) run(ctx context.Context, a *ui.App) error {
	if f.sample < 1 || f.pageSize < 1 || f.pause < 0 {
		return errors.New("--sample and --page-size must be at least 1, --pause at least 0")
	}
	if f.out != "" {
		if _, err := os.Lstat(f.out); err == nil {
			return fmt.Errorf("--out %s: the file exists: use another name, or remove it", f.out)
		}
	}
	s, err := f.servers.Open(a, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	o := discover.Options{Sample: f.sample, PageSize: f.pageSize, Pause: f.pause}
	if o.Pause == 0 {
		o.Pause = -1
	}
	var all []discovered
	var errs []error
	for _, n := range s.Nodes {
		result, err := discover.Sample(ctx, n.Client, o)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", n.Name, err))
		}
		all = append(all, discovered{n, result, err != nil})
	}
	layouts, failed := f.layouts(ctx, s.Others)
	errs = append(errs, failed)
	if ctx.Err() != nil {
		errs = append(errs, ui.ErrInterrupted)
	}
	if f.format == ui.JSON {
		errs = append(errs, ui.WriteJSON(a.Out, newDocument(all, layouts)))
	} else {
		errs = append(errs, writeDiscovered(a, all, layouts))
	}
	if f.out != "" && errors.Join(errs...) == nil {
		errs = append(errs, f.write(a, all, layouts))
	}
	return errors.Join(errs...)
}

func writeDiscovered(a *ui.App, all []discovered, others []laidOut) error {
	var rows [][]string
	for _, d := range all {
		for _, found := range d.result.Found {
			row := foundRow(d.node.Name, &found, ttlRange(&found))
			if len(others) > 0 {
				row = append([]string{servers.Redis}, row...)
			}
			rows = append(rows, row)
		}
	}
	for _, o := range others {
		rows = append(rows, o.rows()...)
	}
	if len(rows) > 0 {
		head := []string{"NODE", "LIBRARY", "PATTERN", "KEYS", "EXAMPLE", "TTL", "CONFIDENCE", "EVIDENCE"}
		if len(others) > 0 {
			head = append([]string{"BACKEND"}, head...)
		}
		if err := ui.WriteTable(a.Out, head, rows, ui.Layout{Width: ui.Terminal(a.Out)}); err != nil {
			return err
		}
		fmt.Fprintln(a.Out)
	}
	var text strings.Builder
	for _, d := range all {
		text.WriteString(looked(d.node.Name, inspect.Count(d.result.Sampled, "key")+" (all keys)", d.result.Whole,
			d.failed && d.result.Sampled == 0, len(d.result.Found)))
	}
	for _, o := range others {
		text.WriteString(o.summary())
	}
	_, err := fmt.Fprint(a.Out, text.String())
	return err
}

func foundRow(node string, found *discover.Found, ttl string) []string {
	return []string{
		node, string(found.Library), inspect.KeyText(found.Pattern), strconv.Itoa(found.Keys),
		clip(inspect.KeyText(found.Example)), ttl, found.Confidence.String(), found.Evidence,
	}
}

// looked says how much of a server was looked at.
func looked(name, much string, whole, unread bool, found int) string {
	if unread {
		return name + ": not read\n"
	}
	if !whole {
		much = strings.TrimSuffix(strings.TrimSuffix(much, " (all keys)"), " (all)") + " (a sample; raise it with --sample)"
	}
	nothing := ""
	if found == 0 {
		nothing = "; found no lock of a known library"
	}
	return fmt.Sprintf("%s: looked at %s%s\n", name, much, nothing)
}

func clip(key string) string {
	if runes := []rune(key); len(runes) > exampleWidth {
		return string(runes[:exampleWidth]) + "…"
	}
	return key
}

// write writes the proposal to a new file, so that it overwrites nothing.
func (f *discoverFlags) write(a *ui.App, all []discovered, others []laidOut) error {
	file, err := os.OpenFile(f.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	_, err = file.WriteString(f.proposal(all, others))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	out := a.Out
	if f.format == ui.JSON {
		out = a.ErrOut
	}
	_, err = fmt.Fprintf(out, "wrote %s: read it, then run \"lockscope config check --connect %s\"\n", f.out, f.out)
	return err
}
