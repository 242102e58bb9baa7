package list

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// Document is the JSON form of a listing: schema 1.
type Document struct {
	Schema    int          `json:"schema"`
	Started   time.Time    `json:"started"`
	Took      float64      `json:"took_seconds"`
	Truncated bool         `json:"truncated"`
	Omitted   int64        `json:"omitted"`
	Locks     []listedLock `json:"locks"`
	Unknown   string       `json:"waits_unknown,omitempty"`
	Deadlocks []string     `json:"deadlocks,omitempty"`
	Nodes     []listedNode `json:"nodes"`
	Coverage  *coverage    `json:"coverage,omitempty"` // of the nodes of Redis, unless they are a cluster
}

type listedLock struct {
	Backend    string               `json:"backend"`
	Resource   string               `json:"resource"` // as it is if printable, else a quoted Go string
	Key        string               `json:"key"`      // the same
	KeyBase64  string               `json:"key_base64"`
	Type       string               `json:"type"`
	Nodes      int                  `json:"nodes"` // that agree on the holder
	Of         int                  `json:"of"`    // that answered
	Silent     int                  `json:"silent,omitempty"`
	Held       bool                 `json:"held"`  // by a majority, if the silent nodes have it, too
	State      string               `json:"state"` // held, undecided or not_held
	Split      bool                 `json:"split"` // other nodes have another holder
	Holder     *report.HoldDocument `json:"holder,omitempty"`
	HeldFor    *float64             `json:"held_seconds,omitempty"`
	TTL        *float64             `json:"ttl_seconds"` // null: never expires, or unknown; not held: of its last key
	TTLUnknown bool                 `json:"ttl_unknown,omitempty"`
	Waiting    *listedWait          `json:"waiting,omitempty"`
	Kind       lock.Kind            `json:"kind,omitempty"`         // what the lock is part of
	Slots      int                  `json:"slots,omitempty"`        // of the semaphore
	SlotsInUse *int                 `json:"slots_in_use,omitempty"` // null: unknown
	Readers    int                  `json:"readers,omitempty"`      // that hold a read/write lock
	ReadBy     []listedReader       `json:"read_by,omitempty"`      // those that began first
}

// listedReader is one holder of a read/write lock.
type listedReader struct {
	Holder  *report.HoldDocument `json:"holder"`
	Nodes   int                  `json:"nodes"`
	HeldFor float64              `json:"held_seconds"`
	TTL     float64              `json:"ttl_seconds"`
}

type listedNode struct {
	Backend   string `json:"backend"`
	Node      string `json:"node"`
	Locks     int64  `json:"locks"`
	Truncated bool   `json:"truncated"`
	Error     string `json:"error,omitempty"`
}

func jsonListing(l *overview) Document {
	out := Document{
		Schema: ui.SchemaVersion, Started: l.started, Took: l.took.Seconds(), Truncated: l.truncated,
		Omitted: l.omitted,
		Locks:   make([]listedLock, 0, len(l.locks)), Nodes: []listedNode{},
	}
	for _, k := range l.locks {
		out.Locks = append(out.Locks, jsonLock(k))
	}
	var unknown []error
	for _, p := range l.parts {
		out.Coverage = cmp.Or(out.Coverage, p.coverage)
		unknown = append(unknown, fleet.QueuesErr(p.waits.Waits))
		for _, text := range fleet.Deadlocks(p.waits.Waits) {
			out.Deadlocks = append(out.Deadlocks, l.prefix(p)+text)
		}
		for _, n := range p.listing.Nodes {
			node := listedNode{Backend: p.system, Node: n.Node, Locks: n.Locks, Truncated: n.Truncated}
			if n.Err != nil {
				node.Error = n.Err.Error()
			}
			out.Nodes = append(out.Nodes, node)
		}
	}
	if err := errors.Join(unknown...); err != nil {
		out.Unknown = err.Error()
	}
	return out
}

func jsonLock(k entry) listedLock {
	one := listedLock{
		Backend: k.in.system, Resource: inspect.KeyText(k.Resource), Key: inspect.KeyText(k.Key),
		KeyBase64: base64.StdEncoding.EncodeToString([]byte(k.Key)),
		Type:      k.Type, Nodes: k.Nodes, Of: k.Of, Silent: k.Silent, Held: k.Held(), State: k.state(), Split: k.Split,
		Holder: report.NewHoldDocument(k.Hold), TTLUnknown: !k.tellsTTL(),
		Waiting: k.in.waits.document(k.in.waits.of(k.Key)),
	}
	of := k.construct()
	one.Kind, one.Slots = of.Kind, of.Slots
	if n := k.slotsInUse(); n >= 0 && of.Slots > 0 {
		one.SlotsInUse = &n
	}
	if k.readWrite() {
		one.Readers, one.ReadBy = k.readers(), jsonReaders(&k.Lock)
	}
	if k.tellsTTL() {
		one.TTL = report.Seconds(k.ttl())
	}
	if !k.Hold.Since.IsZero() {
		one.HeldFor = new(k.HeldFor().Seconds())
	}
	return one
}

func jsonReaders(l *listing.Lock) (all []listedReader) {
	for _, r := range l.ReadBy() {
		all = append(all, listedReader{Holder: report.NewHoldDocument(r.Hold), Nodes: r.Nodes,
			HeldFor: r.HeldFor().Seconds(), TTL: r.TTL.Seconds()})
	}
	return all
}

func writeList(a *ui.App, format ui.Format, waiters, slots bool, l *overview) error {
	if format == ui.JSON {
		return ui.WriteJSON(a.Out, jsonListing(l))
	}
	var b strings.Builder
	var rows [][]string
	constructs := l.constructs()
	for _, r := range l.rows(slots) {
		rows = append(rows, l.inColumn(r[0].in, rowOf(r, slots, constructs)))
	}
	if len(rows) > 0 {
		titles := []string{"RESOURCE", "NODES", "HOLDER", "HELD FOR", "TTL LEFT", "WAITING", "REMARK"}
		if constructs {
			titles = slices.Insert(titles, 1, "KIND")
		}
		b.WriteString(ui.TableText(l.column("BACKEND", titles), rows, ui.Layout{Width: ui.Terminal(a.Out)}))
	}
	if len(rows) == 0 || l.omitted > 0 {
		b.WriteString(l.summary() + "\n")
	}
	for _, p := range l.parts {
		if text := p.coverage.text(); text != "" {
			b.WriteString(text + "\n")
		}
	}
	writeGraph(&b, l)
	if waiters {
		writeWaiters(&b, a, l)
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}

func rowOf(r tableRow, slots, constructs bool) []string {
	if !slots && r.whole() {
		return semaphoreRow(r)
	}
	row := lockRow(r[0])
	if !constructs {
		row = slices.Delete(row, 1, 2)
	}
	return row
}

func lockRow(k entry) []string {
	held := ui.Unknown
	if !k.Hold.Since.IsZero() {
		held = inspect.Short(k.HeldFor())
	}
	return []string{
		inspect.KeyText(k.Resource), k.constructText(), k.nodesText(), k.holderText(), held, k.ttlText(k.ttl()),
		k.in.waits.text(k.Key), k.remark(),
	}
}

func (k *entry) nodesText() string { return fmt.Sprintf("%d/%d", k.Nodes, k.Of+k.Silent) }

func (k *entry) ttlText(ttl time.Duration) string {
	if !k.tellsTTL() {
		return ui.Unknown
	}
	return ui.TTL(ttl)
}

func (k *entry) remark() string {
	var remarks []string
	switch state := k.state(); {
	case state == lockUndecided:
		remarks = append(remarks, undecidedText(k))
	case state == lockNotHeld && k.Nodes == 0:
		remarks = append(remarks, "the time of its readers is over: a leftover")
	case state == lockNotHeld:
		remarks = append(remarks, "no majority: a leftover or an attempt under way")
	}
	if !k.tellsTTL() {
		remarks = append(remarks, "until its release, or the end of its holder's session")
	}
	if k.Split {
		remarks = append(remarks, "other nodes have another holder")
	}
	return strings.Join(remarks, "; ")
}

// undecidedText says which nodes decide whether a lock is held.
func undecidedText(k *entry) string {
	if k.Silent == 0 {
		return "undecided: held if the nodes that may have forgotten it had it"
	}
	return fmt.Sprintf("undecided: held if a majority has it; %s not read", inspect.Count(k.Silent, "node"))
}

// writeGraph says what the table of locks has no room for: chains and deadlocks.
func writeGraph(b *strings.Builder, l *overview) {
	for _, p := range l.parts {
		w, prefix := p.waits, l.prefix(p)
		for _, f := range w.Locks {
			if chain := w.Graph.Chain(f.Resource); len(chain) > 0 {
				fmt.Fprintf(b, "%sthe holder of %q waits for %s\n", prefix, inspect.KeyText(f.Resource),
					strings.Join(quoted(chain), ", whose holder waits for "))
			}
		}
		for _, text := range fleet.Deadlocks(w.Waits) {
			fmt.Fprintf(b, "%sDEADLOCK: %s\n", prefix, text)
		}
		if err := fleet.QueuesErr(w.Waits); err != nil {
			fmt.Fprintf(b, "some waiters are unknown: %v\n", err)
		}
	}
}

func quoted(names []string) (all []string) {
	for _, name := range names {
		all = append(all, strconv.Quote(name))
	}
	return all
}

// writeWaiters is the table that --waiters adds.
func writeWaiters(b *strings.Builder, a *ui.App, l *overview) {
	var rows [][]string
	for _, p := range l.parts {
		for _, f := range p.waits.Locks {
			for _, row := range p.waits.rows(f) {
				rows = append(rows, l.inColumn(p, row))
			}
		}
	}
	if len(rows) > 0 {
		head := l.column("BACKEND", []string{"WAITED FOR", "WAITER", "CALLERS", "FOR", "AT", "HOLDS"})
		b.WriteString("\n" + ui.TableText(head, rows, ui.Layout{Width: ui.Terminal(a.Out)}))
	}
}
