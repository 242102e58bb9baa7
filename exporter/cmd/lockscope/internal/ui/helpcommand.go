package ui

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// helpCommand is lockscope help.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND | TOPIC]", Short: "Show the help of a command or topic",
		Long:              "Show the help of a command or topic. Without one, list them all.",
		Example:           "  lockscope help scan\n  lockscope help flags scan\n  lockscope help exit-codes",
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil }, // a bad variable must not prevent help
		ValidArgsFunction: complete,
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if about == nil || err != nil || len(rest) > 0 {
				return fmt.Errorf("no help for %q: list the commands and topics with \"lockscope help\"",
					strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// complete offers commands and topics to a shell.
func complete(cmd *cobra.Command, args []string, toComplete string) (names []string, _ cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(args)
	if about == nil || err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, sub := range about.Commands() {
		if (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) &&
			strings.HasPrefix(sub.Name(), toComplete) {
			names = append(names, sub.Name()+"\t"+sub.Short)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
