package draw

import (
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/exporter/internal/traceevent"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// waitName is the name of a wait: whom or what it waits for.
func (s *step) waitName() string {
	switch class := locktrace.Wait(s.What); {
	case class == locktrace.WaitHolder && s.By == nil && s.Name == string(locktrace.WaitLocal):
		return "wait for its turn in the process"
	case class == locktrace.WaitHolder && s.By != nil:
		return "wait behind " + s.By.Instance
	case class == locktrace.WaitHolder:
		return "wait behind a holder"
	default:
		return "wait: " + words(s.What)
	}
}

// words makes a word of a closed set readable.
func words(word string) string { return strings.ReplaceAll(word, "_", " ") }

func number(n int) string { return strconv.Itoa(n) }

// numbered numbers rows from the second.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	return name + " " + number(n)
}

// fence is text, because a viewer reads numbers as float64.
func fence(n uint64) string { return strconv.FormatUint(n, 10) }

func addText(args traceevent.Args, key, value string) {
	if value != "" {
		args[key] = value
	}
}
