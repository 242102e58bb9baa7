package discover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/output"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/table"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/discover"
)

const discoverHelp = `Discover looks at a sample of the keys of each server and says which libraries keep locks
there, below which pattern, and why it thinks so: lockscope, redsync, redislock,
node-redlock, Redisson (locks, read-write and fair locks, semaphores), ShedLock, Spring
Integration, Laravel, redis-py, python-redis-lock, sidekiq-unique-jobs, celery-singleton,
redbeat, BullMQ and SETNX. It only reads, gently, and never prints a value.

Confidence is high if form and name, or the form alone, are the library's own; medium if the
form is common and the name speaks of locks; low if it is a guess: caches and sessions have
random values, too. A sample may miss locks that are rarely held: take it when they are.

With -o it writes a configuration file with a pattern for each line of the table and
limits that follow from the TTLs seen. Where several libraries share a pattern, the
longest limit counts. It has allow_empty: true, for locks come and go. Guesses are in it
as comments. Read it before you use it: what was seen need not be what is right. No
password is written.

Its user needs ~* (or %R~*) +scan +pttl +getrange +strlen +exists +type +hlen +hgetall +memory|usage.

Exit status: 0, or 2 if a server could not be sampled (what is known is shown).`

const discoverExample = `  lockscope discover --redis r1:6379,r2:6379,r3:6379
  lockscope discover --redis r1:6379 --sample 1000000 -o lockscope.yaml
  lockscope discover --cluster --redis c1:6379`

// exampleWidth clips keys: names may tell more than anybody wants on a terminal.
const exampleWidth = 48

type discoverFlags struct {
	redis    target.Flags
	sample   int
	pageSize int
	pause    time.Duration
	out      string
}

// Command is lockscope discover.
func Command(a *app.App) *cobra.Command {
	f := &discoverFlags{}
	cmd := &cobra.Command{
		Use: "discover", Short: "Recognise whose locks there are, and propose a configuration", Long: discoverHelp,
		Example: discoverExample,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	}
	set := cmd.Flags()
	f.redis.Register(set)
	set.IntVar(&f.sample, "sample", discover.DefaultSample, "look at so many keys of each server or cluster")
	set.IntVar(&f.pageSize, "page-size", scanner.DefaultPageSize,
		"keys a server looks at without serving others meanwhile (COUNT of SCAN)")
	set.DurationVar(&f.pause, "pause", scanner.DefaultPause,
		"leave a server alone for this long after each page; 0 is fastest and heaviest")
	set.StringVarP(&f.out, "output-file", "o", "",
		"write a configuration file with what was found; one that is there already is left alone")
	return cmd
}

func (f *discoverFlags) run(ctx context.Context, a *app.App) error {
	if f.sample < 1 || f.pageSize < 1 || f.pause < 0 {
		return errors.New("--sample and --page-size are at least 1, --pause at least 0")
	}
	if f.out != "" {
		if _, err := os.Lstat(f.out); err == nil {
			return fmt.Errorf("--output-file %s: it is there already: name another one, or take it away", f.out)
		}
	}
	nodes, err := f.redis.Open(a)
	if err != nil {
		return err
	}
	defer target.Release(nodes)
	o := discover.Options{Sample: f.sample, PageSize: f.pageSize, Pause: f.pause}
	if o.Pause == 0 {
		o.Pause = -1
	}
	var all []discovered
	var errs []error
	for _, n := range nodes {
		result, err := discover.Sample(ctx, n.Client, o)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", n.Name, err))
		}
		all = append(all, discovered{n, result, err != nil})
	}
	if ctx.Err() != nil {
		errs = append(errs, app.ErrInterrupted)
	}
	errs = append(errs, writeDiscovered(a, all))
	if f.out != "" && errors.Join(errs...) == nil {
		errs = append(errs, f.write(a, all))
	}
	return errors.Join(errs...)
}

func writeDiscovered(a *app.App, all []discovered) error {
	var rows [][]string
	for _, d := range all {
		for _, found := range d.result.Found {
			rows = append(rows, []string{
				d.node.Name, string(found.Library), scanner.KeyText(found.Pattern), strconv.Itoa(found.Keys),
				clip(scanner.KeyText(found.Example)),
				ttlRange(&found), found.Confidence.String(), found.Evidence,
			})
		}
	}
	if len(rows) > 0 {
		head := []string{"NODE", "LIBRARY", "PATTERN", "KEYS", "EXAMPLE", "TTL", "CONFIDENCE", "EVIDENCE"}
		if err := table.Write(a.Out, head, rows, table.Options{Width: output.Terminal(a.Out)}); err != nil {
			return err
		}
		fmt.Fprintln(a.Out)
	}
	for _, d := range all {
		if d.failed && d.result.Sampled == 0 {
			if _, err := fmt.Fprintf(a.Out, "%s: not read\n", d.node.Name); err != nil {
				return err
			}
			continue
		}
		part := "all keys"
		if !d.result.Whole {
			part = "a sample; --sample looks at more"
		}
		nothing := ""
		if len(d.result.Found) == 0 {
			nothing = ", and no lock of any library was recognised"
		}
		if _, err := fmt.Fprintf(a.Out, "%s: %d keys looked at (%s)%s\n", d.node.Name, d.result.Sampled, part,
			nothing); err != nil {
			return err
		}
	}
	return nil
}

func clip(key string) string {
	if runes := []rune(key); len(runes) > exampleWidth {
		return string(runes[:exampleWidth]) + "…"
	}
	return key
}

// write writes the proposal. The file is new: nobody's work is overwritten.
func (f *discoverFlags) write(a *app.App, all []discovered) error {
	file, err := os.OpenFile(f.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return fmt.Errorf("--output-file: %w", err)
	}
	_, err = file.WriteString(proposal(&f.redis.Config, all))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("--output-file: %w", err)
	}
	_, err = fmt.Fprintf(a.Out, "%s is written: read it, then lockscope config check --connect %s\n", f.out, f.out)
	return err
}
