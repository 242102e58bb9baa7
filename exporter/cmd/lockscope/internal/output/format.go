package output

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/flags"
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
	flags.Group(set, flags.Result, "output")
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
