package notify

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/report"
)

// runbooks is the address of the runbooks. A page has the name of its alert.
const runbooks = "https://github.com/lockscope/lockscope/blob/main/dashboards/runbooks/"

// texts is what people read about a class of findings.
type texts struct{ alert, complaint, remedy string }

func textsOf(class inspect.Class) texts {
	switch class {
	case inspect.NoTTL:
		return texts{"DistributedLockLeaked", "never expires", "It blocks everyone until someone deletes it. " +
			"Make sure that its holder is gone, then delete it or set an expiry."}
	case inspect.LongTTL:
		return texts{"DistributedLockOverlong", "expires later than policy allows",
			"If its holder dies, others wait that long. Check the holder's code for a wrong time unit."}
	case inspect.HeldTooLong:
		return texts{"DistributedLockHeldTooLong", "has had the same holder for longer than policy allows",
			"The holder may hang and still renew. Check its process first."}
	case inspect.Orphan:
		return texts{"DistributedLockOrphaned", "is on a minority of the nodes only",
			"It is left over from a failed attempt and ends with its expiry. " +
				"Many of these point to a node that loses connections."}
	case inspect.ForeignType:
		return texts{"DistributedLockForeignType", "has a type that no lock has",
			"Another program uses this name, or the pattern of the scan is too wide."}
	}
	return texts{"DistributedLockFinding", "needs a look", "See the evidence."}
}

func runbook(class inspect.Class) string { return runbooks + textsOf(class).alert + ".md" }

// summary is one sentence about a finding.
func summary(f report.FindingDocument) string {
	complaint := textsOf(f.Class).complaint
	if f.Inferred {
		complaint = "had the same client at each look for longer than policy allows; it may have released it in between"
	}
	system := f.Backend
	switch f.Backend {
	case "":
		system = "Redis"
	case "postgresql":
		system = "PostgreSQL"
	case "zookeeper":
		system = "ZooKeeper"
	}
	return fmt.Sprintf("%s lock %s on %s %s.", valid(system), clip(lockOf(f), maxLabel), valid(f.Node), complaint)
}

// description is what the lock's value says of its holder, and what to do.
func description(f report.FindingDocument) string {
	text := "Its value does not name its holder."
	if h := f.Holder; h != nil && h.Name != "" {
		text = "Held by " + clip(inspect.KeyText(h.Name), maxLabel)
		if !h.Since.IsZero() {
			text += " since " + h.Since.UTC().Format(time.RFC3339) + " by the holder's clock"
		}
		text += "."
	}
	return text + " " + textsOf(f.Class).remedy
}

func valid(s string) string { return strings.ToValidUTF8(s, "�") }
