package app

import (
	"fmt"

	"github.com/spf13/cobra"
)

// NoArguments does not repeat the argument: it may be a URL with a password.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes flags only, and there are %d arguments: servers are given as --redis URL; see --help",
		cmd.CommandPath(), len(args))
}
