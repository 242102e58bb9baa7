package main

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/table"
	"github.com/lockscope/lockscope/scanner"
)

// listReport is the JSON form of a listing: schema 1.
type listReport struct {
	Schema    int          `json:"schema"`
	Started   time.Time    `json:"started"`
	Took      float64      `json:"took_seconds"`
	Truncated bool         `json:"truncated"`
	Omitted   int64        `json:"omitted"`
	Locks     []listedLock `json:"locks"`
	Unknown   string       `json:"waits_unknown,omitempty"`
	Deadlocks []string     `json:"deadlocks,omitempty"`
	Nodes     []listedNode `json:"nodes"`
}

type listedLock struct {
	Resource  string                `json:"resource"` // as it is if printable, else a quoted Go string
	Key       string                `json:"key"`      // the same
	KeyBase64 string                `json:"key_base64"`
	Type      string                `json:"type"`
	Nodes     int                   `json:"nodes"` // that agree on the holder
	Of        int                   `json:"of"`    // that answered
	Silent    int                   `json:"silent,omitempty"`
	Held      bool                  `json:"held"`  // by a majority, as far as they and the silent ones tell
	Split     bool                  `json:"split"` // other nodes have another holder
	Holder    *scanner.HoldDocument `json:"holder,omitempty"`
	HeldFor   *float64              `json:"held_seconds,omitempty"`
	TTL       *float64              `json:"ttl_seconds"` // null: never expires
	Waiting   *listedWait           `json:"waiting,omitempty"`
}

type listedNode struct {
	Node      string `json:"node"`
	Locks     int64  `json:"locks"`
	Truncated bool   `json:"truncated"`
	Error     string `json:"error,omitempty"`
}

func jsonListing(l scanner.Listing, w waits, now time.Time) listReport {
	out := listReport{
		Schema: schemaVersion, Started: l.Started, Took: l.Took.Seconds(), Truncated: l.Truncated, Omitted: l.Omitted,
		Locks: make([]listedLock, 0, len(l.Locks)), Nodes: make([]listedNode, 0, len(l.Nodes)),
	}
	for _, k := range l.Locks {
		lock := listedLock{
			Resource: scanner.KeyText(k.Resource), Key: scanner.KeyText(k.Key), KeyBase64: base64.StdEncoding.EncodeToString([]byte(k.Key)),
			Type: k.Type, Nodes: k.Nodes, Of: k.Of, Silent: k.Silent, Held: k.Held(), Split: k.Split,
			Holder: scanner.NewHoldDocument(k.Hold), TTL: secondsLeft(k.TTL),
			Waiting: w.document(w.of(k.Key), now),
		}
		if !k.Hold.Since.IsZero() {
			age := now.Sub(k.Hold.Since).Seconds()
			lock.HeldFor = &age
		}
		out.Locks = append(out.Locks, lock)
	}
	if err := w.errWaits(); err != nil {
		out.Unknown = err.Error()
	}
	for _, d := range w.Deadlocks {
		out.Deadlocks = append(out.Deadlocks, d.String())
	}
	for _, n := range l.Nodes {
		node := listedNode{Node: n.Node, Locks: n.Locks, Truncated: n.Truncated}
		if n.Err != nil {
			node.Error = n.Err.Error()
		}
		out.Nodes = append(out.Nodes, node)
	}
	return out
}

// secondsLeft is nil for a lock that never expires.
func secondsLeft(ttl time.Duration) *float64 {
	if ttl < 0 {
		return nil
	}
	s := ttl.Seconds()
	return &s
}

func (a *app) writeList(f *listFlags, l scanner.Listing, w waits, now time.Time) error {
	if f.output == outputJSON {
		return a.writeJSON(jsonListing(l, w, now))
	}
	var rows [][]string
	for _, k := range l.Locks {
		rows = append(rows, lockRow(k, w, now))
	}
	if len(rows) > 0 {
		head := []string{"RESOURCE", "NODES", "HOLDER", "HELD FOR", "TTL LEFT", "WAITING", "REMARK"}
		if err := table.Write(a.out, head, rows, table.Options{Width: terminal(a.out)}); err != nil {
			return err
		}
	}
	if len(rows) == 0 || l.Omitted > 0 {
		if _, err := fmt.Fprintln(a.out, listSummary(len(rows), l.Omitted)); err != nil {
			return err
		}
	}
	if err := a.writeGraph(w); err != nil || !f.waiters {
		return err
	}
	return a.writeWaiters(w, now)
}

func lockRow(k scanner.Lock, w waits, now time.Time) []string {
	held := unknown
	if !k.Hold.Since.IsZero() {
		held = short(max(0, now.Sub(k.Hold.Since)))
	}
	ttl := ttlText(k.TTL)
	var remarks []string
	switch {
	case !k.Held():
		ttl = unknown
		remarks = append(remarks, "no majority: a left-over or an attempt under way")
	case k.Nodes <= (k.Of+k.Silent)/2:
		remarks = append(remarks, fmt.Sprintf("%d silent: held if they have it, too", k.Silent))
	}
	if k.Split {
		remarks = append(remarks, "other nodes have another holder")
	}
	return []string{scanner.KeyText(k.Resource), fmt.Sprintf("%d/%d", k.Nodes, k.Of), holderText(k.Hold), held, ttl, w.text(k.Key, now), strings.Join(remarks, "; ")}
}

func listSummary(shown int, omitted int64) string {
	switch {
	case omitted > 0:
		return fmt.Sprintf("... and %d more: see --limit and --filter", omitted)
	case shown == 0:
		return "no locks"
	}
	return ""
}
