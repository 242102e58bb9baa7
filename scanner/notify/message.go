package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/lockscope/lockscope/lock/driver/inspect"
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
}

func newMessage(r report.Report) Message {
	m := Message{Document: report.NewDocument(r), Count: len(r.Findings) + r.Overflow}
	for _, n := range r.Nodes {
		m.Group = n.Group
	}
	for i := range m.Silent {
		m.Silent[i].Key = clip(m.Silent[i].Key, maxText)
	}
	for i := range m.Nodes {
		m.Nodes[i].Error = clip(m.Nodes[i].Error, maxText)
	}
	lasting := make(map[identity]bool, len(m.Findings))
	for _, f := range m.Findings {
		m.Group = f.Group
		lasting[identityOf(f)] = true
	}
	resolved := m.Resolved
	m.Resolved = []report.FindingDocument{}
	for _, f := range resolved { // a key that was healed and leaked again is in both lists
		if !lasting[identityOf(f)] {
			m.Group, m.Resolved = f.Group, append(m.Resolved, f)
		}
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
	class      inspect.Class
	node, lock string
}

func identityOf(f report.FindingDocument) identity { return identity{f.Class, f.Node, lockOf(f)} }

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
