package program

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// noCommand names the command that was probably meant. It repeats nothing that could be a URL with a password.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	list := fmt.Sprintf("list the commands with \"%s --help\"", cmd.CommandPath())
	if strings.ContainsAny(args[0], ":@/") {
		return fmt.Errorf("a command must come before other arguments: %s", list)
	}
	meant := ""
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		meant = fmt.Sprintf(" (did you mean %s?)", strings.Join(like, " or "))
	}
	return fmt.Errorf("unknown command %q%s: %s", args[0], meant, list)
}

// badFlag names the flag, or the command before it, that was probably meant.
func badFlag(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
		return noCommand(cmd, args)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	meant := ""
	if like := ui.Nearest(unknown.GetSpecifiedName(), known); like != "" {
		meant = fmt.Sprintf(" (did you mean --%s?)", like)
	}
	below := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name())
	return fmt.Errorf("unknown flag --%s%s: list the flags with \"%s help flags%s\"", unknown.GetSpecifiedName(), meant,
		cmd.Root().Name(), below)
}
