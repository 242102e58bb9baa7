package judge

import (
	"fmt"
	"strings"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/report"
)

// About begins the evidence of a lock that is part of a construct, as its holder says: which construct, and which slot
// of a semaphore. It is "" for a lock by itself. patterns are those of the scanner: a name lacks what they begin with.
func About(key string, h *report.Hold, patterns []string) string {
	name := nameOf(key, patterns)
	switch h.Kind {
	case lock.KindElection:
		return fmt.Sprintf("election %s: ", report.KeyText(name))
	case lock.KindSet:
		return fmt.Sprintf("%s, held as part of a set: ", report.KeyText(name))
	case lock.KindRead:
		return fmt.Sprintf("reader of %s: ", report.KeyText(name))
	case lock.KindWrite:
		return fmt.Sprintf("writer of %s: ", report.KeyText(name))
	case lock.KindSemaphore:
		if semaphore, slot, ok := records.ParseSlot(name); ok {
			return fmt.Sprintf("slot %d of semaphore %s: ", slot, report.KeyText(semaphore))
		}
		return fmt.Sprintf("semaphore %s: ", report.KeyText(name))
	}
	return ""
}

func nameOf(key string, patterns []string) string {
	cut := len(key)
	for _, pattern := range patterns {
		head := keyreader.LiteralHead(pattern)
		prefix := head[:strings.LastIndexAny(head, ":_-./}|")+1] // the rest may be the begin of a name
		if len(prefix) < cut && strings.HasPrefix(key, prefix) {
			cut = len(prefix)
		}
	}
	if cut == len(key) {
		return key
	}
	return key[cut:]
}
