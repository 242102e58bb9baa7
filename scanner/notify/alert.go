package notify

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner"
)

// alert is one element of a request to Alertmanager's API.
type alert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

const (
	labelAlertname = "alertname"
	labelSeverity  = "severity"
	labelNode      = "lock_node"
	labelClass     = "class"
	labelLock      = "lock"
	labelInstance  = "instance"

	// maxLabel keeps a long key from filling every notification. A cut key keeps a digest, so each key has its own
	// alert.
	maxLabel = 256
)

func isOwnLabel(name string) bool {
	switch name {
	case labelAlertname, labelSeverity, labelNode, labelClass, labelLock, labelInstance:
		return true
	}
	return false
}

// AlertName returns the label alertname of the alerts for a class of findings.
func AlertName(class scanner.Class) string {
	switch class {
	case scanner.NoTTL:
		return "DistributedLockLeaked"
	case scanner.LongTTL:
		return "DistributedLockOverlong"
	case scanner.HeldTooLong:
		return "DistributedLockHeldTooLong"
	case scanner.Orphan:
		return "DistributedLockOrphaned"
	case scanner.ForeignType:
		return "DistributedLockForeignType"
	}
	return "DistributedLockFinding"
}

const defaultSeverity = "warning"

// alertFor describes a finding that lasts until ends.
func (c *config) alertFor(f scanner.Finding, now, ends time.Time) alert {
	a := alert{
		Labels:       c.labelsFor(f),
		Annotations:  c.annotationsFor(f),
		StartsAt:     f.FirstSeen,
		EndsAt:       ends,
		GeneratorURL: c.generator,
	}
	if a.StartsAt.IsZero() || a.StartsAt.After(now) {
		a.StartsAt = now // an alert that ends before it starts is refused
	}
	return a
}

// labelsFor gives an alert its identity. Labels must not change while a finding lasts.
func (c *config) labelsFor(f scanner.Finding) map[string]string {
	labels := make(map[string]string, len(c.labels)+6)
	for name, value := range c.labels {
		labels[name] = valid(value)
	}
	labels[labelAlertname] = AlertName(f.Class)
	labels[labelSeverity] = c.severityOf(f.Class)
	labels[labelNode] = clipUnique(valid(f.Node), maxLabel)
	labels[labelClass] = string(f.Class)
	labels[labelLock] = clipUnique(f.Lock(), maxLabel)
	if c.instance != "" {
		labels[labelInstance] = valid(c.instance)
	}
	return labels
}

func (c *config) severityOf(class scanner.Class) string {
	if s, ok := c.severity[class]; ok {
		return valid(s)
	}
	return defaultSeverity
}

func valid(s string) string { return strings.ToValidUTF8(s, "�") }

func (c *config) annotationsFor(f scanner.Finding) map[string]string {
	annotations := map[string]string{
		"summary": fmt.Sprintf("%s lock %s on %s %s.", systemOf(&f), clip(f.Lock(), maxLabel), valid(f.Node),
			complaint(&f)),
		"description": holderText(f.Hold) + " " + remedy(f.Class),
		"evidence":    clip(valid(f.Evidence), maxText),
	}
	if url := c.runbookFor(f.Class); url != "" {
		annotations["runbook_url"] = url
	}
	return annotations
}

// runbookFor returns the URL of a class's runbook, "" if there are none.
func (c *config) runbookFor(class scanner.Class) string {
	if c.runbook == "" {
		return ""
	}
	return strings.TrimSuffix(c.runbook, "/") + "/" + AlertName(class) + ".md"
}

func systemOf(f *scanner.Finding) string {
	switch f.Backend {
	case "":
		return "Redis"
	case "postgresql":
		return "PostgreSQL"
	case "zookeeper":
		return "ZooKeeper"
	}
	return valid(f.Backend)
}

func complaint(f *scanner.Finding) string {
	if f.Inferred {
		return "had the same client at each look for longer than policy allows; it may have released it in between"
	}
	switch f.Class {
	case scanner.NoTTL:
		return "never expires"
	case scanner.LongTTL:
		return "expires later than policy allows"
	case scanner.HeldTooLong:
		return "has had the same holder for longer than policy allows"
	case scanner.Orphan:
		return "is on a minority of the nodes only"
	case scanner.ForeignType:
		return "has a type that no lock has"
	}
	return "needs a look"
}

func remedy(class scanner.Class) string {
	switch class {
	case scanner.NoTTL:
		return "It blocks everyone until someone deletes it. " +
			"Make sure that its holder is gone, then delete it or set an expiry."
	case scanner.LongTTL:
		return "If its holder dies, others wait that long. Check the holder's code for a wrong time unit."
	case scanner.HeldTooLong:
		return "The holder may hang and still renew. Check its process first."
	case scanner.Orphan:
		return "It is left over from a failed attempt and ends with its expiry. " +
			"Many of these point to a node that loses connections."
	case scanner.ForeignType:
		return "Another program uses this name, or the pattern of the scan is too wide."
	}
	return "See the evidence."
}

func holderText(h scanner.Hold) string {
	if h.Instance == "" {
		return "Its value does not name its holder."
	}
	text := "Held by " + clip(scanner.KeyText(h.Instance), maxLabel)
	if !h.Since.IsZero() {
		text += " since " + h.Since.UTC().Format(time.RFC3339) + " by the holder's clock"
	}
	return text + "."
}

const (
	maxBatchAlerts = 256
	maxBatchBytes  = 1 << 20
)

// encode makes request bodies: JSON arrays that have all alerts in their order.
func encode(alerts []alert) ([][]byte, error) {
	var bodies [][]byte
	body, count := []byte{'['}, 0
	for _, a := range alerts {
		one, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		if count > 0 && (count == maxBatchAlerts || len(body)+len(one)+len(",]") > maxBatchBytes) {
			bodies = append(bodies, append(body, ']'))
			body, count = []byte{'['}, 0
		}
		if count > 0 {
			body = append(body, ',')
		}
		body, count = append(body, one...), count+1
	}
	if count > 0 {
		bodies = append(bodies, append(body, ']'))
	}
	return bodies, nil
}
