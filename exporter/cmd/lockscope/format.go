package main

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/pflag"
)

// outputFlag is the format of a command's results.
type outputFlag string

const (
	outputTable outputFlag = "table"
	outputJSON  outputFlag = "json"
)

func (o *outputFlag) register(set *pflag.FlagSet) {
	*o = outputTable
	set.VarP(o, "output", "o", "format of the result: table or json")
}

// Set implements pflag.Value.
func (o *outputFlag) Set(text string) error {
	switch outputFlag(text) {
	case outputTable, outputJSON:
		*o = outputFlag(text)
		return nil
	}
	return errors.New("table or json is expected")
}

// String implements pflag.Value.
func (o *outputFlag) String() string { return string(*o) }

// Type implements pflag.Value.
func (o *outputFlag) Type() string { return "format" }

// schemaVersion is that of results in JSON.
const schemaVersion = 1

// writeJSON writes a result.
func writeJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
