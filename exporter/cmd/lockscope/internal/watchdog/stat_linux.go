package watchdog

import (
	"bytes"
	"fmt"
	"os"
)

// Stat is what the kernel says of a process, or of a thread.
type Stat struct {
	State         string // one letter, see proc(5)
	Parent, Group int
}

// StatOf reads a stat file below /proc. It is zero if there is none any more.
func StatOf(file string) (s Stat) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Stat{}
	}
	name := bytes.LastIndexByte(text, ')') // in parentheses; it may hold anything
	_, _ = fmt.Sscan(string(text[name+1:]), &s.State, &s.Parent, &s.Group)
	return s
}
