// Package discover is lockscope discover: it detects lock libraries and suggests a configuration.
package discover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
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

discover recognises the locks of some 65 libraries and programs in Go, Java, Node.js, Python, Ruby,
.NET, PHP, Rust and Elixir: lockscope, redsync, redislock, asynq, Redisson, ShedLock, node-redlock,
BullMQ, redis-py, celery-singleton, Hangfire, Laravel, GitLab, Nextcloud and others. Tokens that
several libraries write are named by their form, such as UUID token. It never prints a value.

Confidence is high if the form is one library's own, medium if the form is common and the name
suggests a lock, low for a guess. A sample can miss locks that are rarely held: run it while they
are held. Read the suggested file before you use it: its limits follow the sample.`

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
		"Guesses are comments in it; it contains no password")
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
	var all []looked
	var errs []error
	add := func(l looked, err error) { all, errs = append(all, l), append(errs, err) }
	for _, n := range s.Nodes {
		add(ofRedis(ctx, n, o))
	}
	for _, b := range s.Others {
		add(ofSystem(ctx, b, f.sample))
	}
	if ctx.Err() != nil {
		errs = append(errs, ui.ErrInterrupted)
	}
	if f.format == ui.JSON {
		errs = append(errs, ui.WriteJSON(a.Out, newDocument(all)))
	} else {
		errs = append(errs, writeDiscovered(a, all))
	}
	if f.out != "" && errors.Join(errs...) == nil {
		errs = append(errs, f.write(a, all))
	}
	return errors.Join(errs...)
}

func writeDiscovered(a *ui.App, all []looked) error {
	var text strings.Builder
	var rows [][]string
	several := anyBesideRedis(all)
	for i := range all {
		l := &all[i]
		for k := range l.found {
			f := &l.found[k]
			row := []string{l.backend, l.node, string(f.Library), inspect.KeyText(f.Pattern), strconv.Itoa(f.Keys),
				clip(inspect.KeyText(f.Example)), l.ttlText(f), f.Confidence.String(), f.Evidence}
			if !several {
				row = row[1:]
			}
			rows = append(rows, row)
		}
	}
	if len(rows) > 0 {
		head := []string{"BACKEND", "NODE", "LIBRARY", "PATTERN", "KEYS", "EXAMPLE", "TTL", "CONFIDENCE", "EVIDENCE"}
		if !several {
			head = head[1:]
		}
		text.WriteString(ui.TableText(head, rows, ui.Layout{Width: ui.Terminal(a.Out)}) + "\n")
	}
	for i := range all {
		text.WriteString(all[i].summary())
	}
	_, err := fmt.Fprint(a.Out, text.String())
	return err
}

func anyBesideRedis(all []looked) bool {
	return slices.ContainsFunc(all, func(l looked) bool { return l.besideRedis() })
}

func clip(key string) string {
	if runes := []rune(key); len(runes) > exampleWidth {
		return string(runes[:exampleWidth]) + "…"
	}
	return key
}

// write writes the proposal to a new file, so that it overwrites nothing.
func (f *discoverFlags) write(a *ui.App, all []looked) error {
	file, err := os.OpenFile(f.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	_, err = file.WriteString(f.proposal(all))
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

// document is the result in JSON.
type document struct {
	Schema int       `json:"schema"`
	Nodes  []nodeDoc `json:"nodes"`
	Found  []found   `json:"found"`
}

type nodeDoc struct {
	Backend string   `json:"backend"`
	Node    string   `json:"node"`
	Looked  int      `json:"looked_at"`
	Unit    string   `json:"unit"`
	Whole   bool     `json:"whole"`
	Failed  bool     `json:"failed"`
	Notes   []string `json:"notes"`
}

type found struct {
	Backend    string   `json:"backend"`
	Node       string   `json:"node"`
	Library    string   `json:"library"`
	Pattern    string   `json:"pattern"`
	Keys       int      `json:"keys"`
	Example    string   `json:"example"`
	NoTTL      int      `json:"no_ttl"`
	MinTTL     *float64 `json:"min_ttl_seconds,omitempty"`
	MaxTTL     *float64 `json:"max_ttl_seconds,omitempty"`
	Confidence string   `json:"confidence"`
	Evidence   string   `json:"evidence"`
}

func newDocument(all []looked) document {
	d := document{Schema: ui.SchemaVersion, Nodes: []nodeDoc{}, Found: []found{}}
	for _, l := range all {
		d.Nodes = append(d.Nodes, nodeDoc{Backend: l.backend, Node: l.node, Looked: l.read.N, Unit: l.read.What,
			Whole: l.whole && !l.failed, Failed: l.failed, Notes: append([]string{}, l.notes...)})
		d.add(l)
	}
	return d
}

func (d *document) add(l looked) {
	for i := range l.found {
		f := &l.found[i]
		doc := found{Backend: l.backend, Node: l.node, Library: string(f.Library), Pattern: inspect.KeyText(f.Pattern),
			Keys: f.Keys, Example: clip(inspect.KeyText(f.Example)), NoTTL: f.NoTTL, Confidence: f.Confidence.String(),
			Evidence: f.Evidence}
		if f.MaxTTL > 0 {
			doc.MinTTL, doc.MaxTTL = new(f.MinTTL.Seconds()), new(f.MaxTTL.Seconds())
		}
		d.Found = append(d.Found, doc)
	}
}
