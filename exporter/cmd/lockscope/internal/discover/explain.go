package discover

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/discover"
)

const explainHelp = `Explain one key: which library wrote it, its holder if the value names one, what scan would report,
and whether repair may touch it. Only reads, and never prints an owner's token.

KEY is the whole name in Redis, such as lock:order:1001. explain asks each server separately.
For lockscope's own locks, "lockscope list" shows what a quorum of the servers says.`

const explainExample = `  lockscope explain lock:order:1001 --redis r1:6379,r2:6379,r3:6379
  lockscope explain PHPREDIS_SESSION:9c5b4x6z8a_LOCK --redis r1:6379 -o json`

type explainFlags struct {
	redis  servers.RedisFlags
	format ui.Format
}

// Explain is lockscope explain.
func Explain(a *ui.App) *cobra.Command {
	f := &explainFlags{}
	cmd := ui.Page{
		Everyday: []string{"redis", "redis-file", "cluster", "output"},
		Exit:     "0, or 2 if a server could not be asked",
		Topics:   []string{"findings", "connection", "json"},
	}.On(&cobra.Command{
		Use: "explain KEY [flags]", Short: "Explain one key: whose lock it is, and what scan and repair make of it",
		Long: explainHelp, Example: explainExample, DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return fmt.Errorf("explain takes one key, not %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args[0]) },
	})
	f.redis.Register(cmd.Flags())
	f.format.Register(cmd.Flags())
	return cmd
}

func (f *explainFlags) run(ctx context.Context, a *ui.App, key string) error {
	nodes, err := f.redis.Open(a)
	if err != nil {
		return err
	}
	defer servers.Release(nodes)
	var all []explained
	var errs []error
	for _, n := range nodes {
		x, err := discover.Explain(ctx, n.Client, key)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", n.Name, err))
		}
		all = append(all, explained{node: n.Name, key: inspect.KeyText(key), x: x, failed: err != nil})
	}
	if ctx.Err() != nil {
		return ui.ErrInterrupted
	}
	if f.format == ui.JSON {
		return errors.Join(append(errs, ui.WriteJSON(a.Out, explainDocument(key, all)))...)
	}
	for i := range all {
		_, err := fmt.Fprint(a.Out, all[i].text(time.Now()))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// explained is a key on one node.
type explained struct {
	node, key string
	x         discover.Explanation
	failed    bool // the node could not be asked
}

func (e *explained) text(now time.Time) string {
	x := &e.x
	text := e.key + " on " + e.node + "\n"
	line := func(name, says string) {
		if says != "" {
			text += fmt.Sprintf("  %-7s  %s\n", name, says)
		}
	}
	switch {
	case e.failed:
		line("is", "unknown: it was not read")
		return text
	case x.Type == "":
		line("is", "not there")
		return text
	}
	line("is", e.what())
	line("TTL", e.ttl())
	line("holder", ui.Printable(x.Holder))
	line("since", instantText(x.Since, now))
	line("ends", instantText(x.Ends, now))
	line("advice", x.Advice)
	line("scan", e.scan())
	line("repair", e.repair())
	return text
}

func (e *explained) what() string {
	switch x := &e.x; {
	case x.Helper:
		return "a helper key of locks, not a lock"
	case x.Library == "":
		return "a " + x.Type + " of no library that discover knows"
	default:
		return fmt.Sprintf("%s, %s: %s", x.Library, x.Confidence, x.Evidence)
	}
}

func (e *explained) ttl() string {
	text := "none"
	if e.x.TTL >= 0 {
		text = inspect.Whole(e.x.TTL.Round(time.Second))
	}
	if e.x.UsualTTL != "" {
		text += "; usually " + strings.Replace(e.x.UsualTTL, "the caller's", "what the caller sets", 1)
	}
	return text
}

func (e *explained) scan() string {
	switch finding := e.x.Finding; {
	case finding != "":
		return "reports " + finding
	case e.x.Helper:
		return "passes over it"
	}
	return "reports nothing with the default limits, unless one holder keeps it for long"
}

func (e *explained) repair() string {
	switch x := &e.x; {
	case x.Doubt != "":
		return "never touches it: " + x.Doubt
	case x.MayBeReused:
		return "touches it only if it is leaked and OBJECT IDLETIME proves that nobody used it: a process may reuse its value"
	}
	return "touches it only if it is leaked, and its value is still the same"
}

// instantText is when that is, and how far from now.
func instantText(at, now time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case at.After(now):
		return fmt.Sprintf("%s, in %s", at.UTC().Format(time.RFC3339), inspect.Whole(at.Sub(now).Round(time.Second)))
	}
	return fmt.Sprintf("%s, %s ago", at.UTC().Format(time.RFC3339), inspect.Whole(now.Sub(at).Round(time.Second)))
}

// explanation is an [explained] in JSON.
type explanation struct {
	Node       string     `json:"node"`
	Failed     bool       `json:"failed"` // it could not be asked: nothing else is known
	Exists     bool       `json:"exists"`
	Type       string     `json:"type,omitempty"`
	TTL        *float64   `json:"ttl_seconds"` // null: none
	Helper     bool       `json:"helper"`
	Library    string     `json:"library,omitempty"`
	Confidence string     `json:"confidence,omitempty"`
	Evidence   string     `json:"evidence,omitempty"`
	UsualTTL   string     `json:"usual_ttl,omitempty"`
	Advice     string     `json:"advice,omitempty"`
	Holder     string     `json:"holder,omitempty"`
	Since      *time.Time `json:"since,omitempty"`
	Ends       *time.Time `json:"ends,omitempty"`
	Scan       string     `json:"scan"`   // what a sweep reports; empty: nothing
	Repair     string     `json:"repair"` // whether a repair may touch it
}

func explainDocument(key string, all []explained) any {
	doc := struct {
		Schema    int           `json:"schema"`
		Key       string        `json:"key"`
		KeyBase64 string        `json:"key_base64"`
		Nodes     []explanation `json:"nodes"`
	}{ui.SchemaVersion, inspect.KeyText(key), base64.StdEncoding.EncodeToString([]byte(key)), []explanation{}}
	for i := range all {
		x := &all[i].x
		e := explanation{Node: all[i].node, Failed: all[i].failed, Exists: x.Type != "", Type: x.Type, Helper: x.Helper, Library: string(x.Library),
			Evidence: x.Evidence, UsualTTL: x.UsualTTL, Advice: x.Advice, Holder: x.Holder, Scan: x.Finding}
		if x.Library != "" {
			e.Confidence = x.Confidence.String()
		}
		if x.TTL >= 0 && e.Exists {
			e.TTL = new(x.TTL.Seconds())
		}
		if !x.Since.IsZero() {
			e.Since = new(x.Since.UTC())
		}
		if !x.Ends.IsZero() {
			e.Ends = new(x.Ends.UTC())
		}
		if e.Exists {
			e.Repair = all[i].repair()
		}
		doc.Nodes = append(doc.Nodes, e)
	}
	return doc
}
