package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Format is the format of a command's results.
type Format string

const (
	Table Format = "table"
	JSON  Format = "json"
)

// Register adds --output.
func (o *Format) Register(set *pflag.FlagSet) {
	*o = Table
	set.VarP(o, "output", "o", "table or json")
	Group(set, Result, "output")
}

// Set implements pflag.Value.
func (o *Format) Set(text string) error {
	switch Format(text) {
	case Table, JSON:
		*o = Format(text)
		return nil
	}
	return errors.New("use table or json")
}

// String implements pflag.Value.
func (o *Format) String() string { return string(*o) }

// Type implements pflag.Value.
func (o *Format) Type() string { return "format" }

// SchemaVersion is that of results in JSON.
const SchemaVersion = 1

// WriteJSON writes a result.
func WriteJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Terminal returns the width of the terminal that w is, or 0.
func Terminal(w any) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Colored reports whether output may carry colours: https://no-color.org.
func Colored(w io.Writer, env Env) bool {
	return Terminal(w) > 0 && env["NO_COLOR"] == "" && env["TERM"] != "dumb"
}

// Unknown stands for an unknown value.
const Unknown = "-"

// TTL is how long a lock lives.
func TTL(ttl time.Duration) string {
	if ttl < 0 {
		return "never"
	}
	return inspect.Short(ttl)
}

// Holder is the holder of a lock with this TTL, and where in its code.
func Holder(h inspect.Hold, ttl time.Duration) string {
	text := state.HolderName(h.Instance, ttl < 0)
	if h.CallSite != "" {
		text += " at " + h.CallSite
	}
	if h.Reason != "" {
		text += " (reason: " + h.Reason + ")"
	}
	if h.Done {
		text += " (done: kept for its minimum hold)"
	}
	if h.Count > 1 {
		text += fmt.Sprintf(" (%d times)", h.Count)
	}
	return text
}

// Construct is what a lock is part of, with what people ask first about it: the term of an election, and how many slots
// of a semaphore are in use. A negative inUse is unknown. It is "" for an unknown kind: a page can say anything.
func Construct(of records.Construct, fence uint64, inUse int) string {
	switch {
	case !of.Kind.Valid():
		return ""
	case of.Kind == lock.KindElection && fence > 0:
		return fmt.Sprintf("election, term %d", fence)
	case of.Kind == lock.KindSemaphore && of.Slots > 0 && inUse >= 0:
		return fmt.Sprintf("semaphore, %d of %d slots in use", inUse, of.Slots)
	case of.Kind == lock.KindSemaphore && of.Slots > 0:
		return fmt.Sprintf("semaphore, %d slots", of.Slots)
	case of.Kind == lock.KindRead, of.Kind == lock.KindWrite:
		return "read/write lock"
	}
	return string(of.Kind)
}

// ReadWrite is what a read/write lock is, with how many readers hold it. Without any, the kind of its holder says if
// somebody writes.
func ReadWrite(readers int, holder lock.Kind) string {
	text := Construct(records.Construct{Kind: lock.KindRead}, 0, -1)
	switch {
	case readers > 0:
		return text + ", " + inspect.Count(readers, "reader")
	case holder == lock.KindWrite:
		return text + ", a writer"
	}
	return text
}
