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
	return fmt.Errorf("%s takes flags only, not %d arguments: name servers with --redis URL",
		cmd.CommandPath(), len(args))
}
