package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"text/template"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// Webhook configures [NewWebhook].
type Webhook struct {
	URL string
	// Template is a text/template that writes JSON from a [Message]. Without one, the body is the message's
	// [report.Document]. Templates also have these functions:
	//
	//	json V         V as JSON, such as a quoted string
	//	summary F      what is wrong with a finding
	//	remedy F       what to do about it
	//	runbook F      the URL of its runbook
	//	escape TEXT    TEXT with &amp;, &lt; and &gt;, as Slack wants it
	Template string
	Secret   string // for the template: a key that the receiver wants in the body
	Access
}

type webhook struct {
	to     *endpoint
	text   *template.Template // nil: the document
	secret string

	mu     sync.Mutex
	posted map[string]state // what the receiver took last, by group and servers
}

// NewWebhook makes a notifier that posts to one URL when the findings of a report differ from those posted last:
//
//   - With up to 20 findings: when one is new or resolved.
//   - With more: when their number passes 20, and when it has doubled or halved since.
//
// A report that the receiver did not take is posted again with the next one. A new process posts once for findings
// that last. A standby report is never posted.
func NewWebhook(c Webhook) (scanner.Notifier, error) {
	to, err := newEndpoint(c.URL, "", c.Access)
	if err != nil {
		return nil, err
	}
	w := &webhook{to: to, secret: c.Secret, posted: map[string]state{}}
	if c.Template == "" {
		return w, nil
	}
	if w.text, err = template.New("template").Funcs(functions).Parse(c.Template); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	one := []report.Finding{{Class: inspect.NoTTL, Hold: inspect.Hold{Format: inspect.FormatLockscope}}}
	for _, example := range []report.Report{{}, {Findings: one}, {Resolved: one}} {
		if _, err := w.body(newMessage(example)); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	return w, nil
}

var functions = template.FuncMap{
	"json": func(v any) (string, error) {
		text, err := json.Marshal(v)
		return string(text), err
	},
	"summary": summary,
	"remedy":  func(f report.FindingDocument) string { return textsOf(f.Class).remedy },
	"runbook": func(f report.FindingDocument) string { return runbook(f.Class) },
	"escape":  strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace,
}

// Notify posts r if it changed.
func (w *webhook) Notify(ctx context.Context, r report.Report) error {
	if r.Standby {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	m := newMessage(r)
	now := stateOf(m)
	of := strings.Join(append([]string{m.Group}, r.Servers...), "\x00")
	last, known := w.posted[of]
	if !now.differs(last) && (known || len(m.Resolved) == 0) {
		return nil
	}
	body, err := w.body(m)
	if err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	if err := w.to.post(ctx, body); err != nil {
		return err
	}
	w.posted[of] = now
	return nil
}

func (w *webhook) body(m Message) ([]byte, error) {
	if w.text == nil {
		return json.Marshal(m.Document)
	}
	m.Secret = w.secret
	var body bytes.Buffer
	if err := w.text.Execute(&body, m); err != nil {
		return nil, err
	}
	if !json.Valid(body.Bytes()) {
		return nil, errors.New("the template writes no valid JSON")
	}
	return body.Bytes(), nil
}

// state is what makes a report worth a post.
type state struct {
	count    int
	findings map[identity]bool // of up to most
}

func stateOf(m Message) state {
	s := state{count: m.Count, findings: map[identity]bool{}}
	if m.Count <= most {
		for i := range m.from.Findings {
			s.findings[identityOf(&m.from.Findings[i])] = true
		}
	}
	return s
}

func (s state) differs(last state) bool {
	if s.count > most && last.count > most {
		return s.count >= 2*last.count || 2*s.count <= last.count
	}
	return s.count != last.count || !maps.Equal(s.findings, last.findings)
}
