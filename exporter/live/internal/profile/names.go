package profile

import (
	"strings"
	"unicode"
)

// library are the packages between a caller of Acquire and its wait.
var library = [...]string{
	"runtime.", "github.com/lockscope/lockscope/lock.", "github.com/lockscope/lockscope/lock/engine.",
	"github.com/lockscope/lockscope/lock/engine/internal/", "github.com/lockscope/lockscope/lock/decorate.",
	"github.com/lockscope/lockscope/lock/memlock.", "github.com/lockscope/lockscope/instrument.",
	"github.com/lockscope/lockscope/instrument/internal/", "github.com/lockscope/lockscope/exporter/live.",
	"github.com/lockscope/lockscope/exporter/live/internal/",
}

func passedThrough(function string) bool {
	for _, prefix := range library {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

// Operation is a resource without what numbers it: each part between separators is cut before its first digit, so that
// order:1001 and order:1002 are both order:*.
func Operation(resource string) string {
	var out strings.Builder
	cut := false
	for _, c := range resource {
		switch {
		case strings.ContainsRune(":/.#", c):
			cut = false
			out.WriteRune(c)
		case cut:
		case unicode.IsDigit(c):
			cut = true
			out.WriteByte('*')
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}
