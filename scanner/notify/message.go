package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"unicode/utf8"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/report"
)

const (
	// most is how many findings of a group are listed one by one.
	most = 20

	maxText   = 1 << 10 // bytes of any text from outside
	maxBase64 = 4 << 10
)

// Message is what a template gets: a document with the worst 20 findings. Its Omitted counts those left out.
type Message struct {
	report.Document
	Group  string // of servers; "" without one
	Count  int    // findings, also those left out; 0: all are resolved
	Secret string // of [Webhook]

	from report.Report // what the document was made of; its lists have the same order
}

func newMessage(r report.Report) Message {
	lasting := make(map[identity]bool, len(r.Findings))
	for i := range r.Findings {
		lasting[identityOf(&r.Findings[i])] = true
	}
	// a key that was healed and leaked again is in both lists
	r.Resolved = slices.DeleteFunc(slices.Clone(r.Resolved), func(f report.Finding) bool { return lasting[identityOf(&f)] })
	m := Message{Document: report.NewDocument(r), Count: len(r.Findings) + r.Overflow, from: r}
	for _, n := range r.Nodes {
		m.Group = n.Group
	}
	for i := range m.Silent {
		m.Silent[i].Key = clip(m.Silent[i].Key, maxText)
	}
	for i := range m.Nodes {
		m.Nodes[i].Error = clip(m.Nodes[i].Error, maxText)
	}
	for _, f := range slices.Concat(r.Findings, r.Resolved) {
		m.Group = f.Group
	}
	for _, list := range []*[]report.FindingDocument{&m.Findings, &m.Resolved, &m.Pending} {
		m.Omitted += max(0, len(*list)-most)
		*list = (*list)[:min(len(*list), most)]
		for i := range *list {
			clipFinding(&(*list)[i])
		}
	}
	m.Truncated = m.Truncated || m.Omitted > 0
	return m
}

// clipFinding bounds every text. A cut key stays different from others.
func clipFinding(f *report.FindingDocument) {
	f.Node, f.Key, f.Evidence = clip(f.Node, maxText), clip(f.Key, maxText), clip(f.Evidence, maxText)
	if f.KeyBase64 != nil && len(*f.KeyBase64) > maxBase64 {
		f.KeyBase64 = nil
	}
	if f.Holder != nil {
		f.Holder.Name, f.Holder.Traceparent = clip(f.Holder.Name, maxText), clip(f.Holder.Traceparent, maxText)
		f.Holder.Reason = clip(f.Holder.Reason, maxText)
	}
}

// identity tells the findings of a group apart. Nothing in it changes while a finding lasts.
type identity struct {
	class        inspect.Class
	server, lock string
}

func identityOf(f *report.Finding) identity { return identity{f.Class, serverOf(f), f.Lock()} }

// serverOf names the server that the scanner was given. The node of a cluster's key changes with its masters.
func serverOf(f *report.Finding) string {
	e := registry.EntryOf(f)
	return cmp.Or(e.Source, f.Node)
}

// lockOf is the lock's name, after the place that it is in.
func lockOf(f report.FindingDocument) string {
	if f.Place == "" {
		return f.Key
	}
	return inspect.KeyText(f.Place) + ": " + f.Key
}

// clip cuts s to at most n bytes, with a digest at the end: different strings stay different.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	tail := "…#" + hex.EncodeToString(sum[:6])
	for n -= len(tail); n > 0 && !utf8.RuneStart(s[n]); {
		n--
	}
	return s[:n] + tail
}
