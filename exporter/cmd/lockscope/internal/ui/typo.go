package ui

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// farTypo is how many letters may differ for one name to be taken for another.
const farTypo = 2

// Typo is a variable that nothing reads, and the one that was probably meant.
type Typo struct{ Name, Meant string }

// ofService matches the variables that Kubernetes sets in every pod for a Service: LOCKSCOPE_PORT_80_TCP_ADDR for one
// called lockscope, LOCKSCOPE_SCAN_SERVICE_HOST for lockscope-scan.
// https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
var ofService = regexp.MustCompile(
	`^LOCKSCOPE_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// Typos finds the variables of env that look like one of known and are not. Those that Kubernetes sets for a Service
// are nobody's typo.
func Typos(env Env, known []string) []Typo {
	var found []Typo
	for name := range env {
		if !strings.HasPrefix(name, VarPrefix) || slices.Contains(known, name) ||
			ofService.MatchString(name) {
			continue
		}
		if meant := Nearest(name, known); meant != "" {
			found = append(found, Typo{name, meant})
		}
	}
	slices.SortFunc(found, func(a, b Typo) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// Nearest is the one of known that name resembles most, "" if it resembles none.
func Nearest(name string, known []string) (meant string) {
	least := farTypo + 1
	for _, k := range known {
		if d := distance(name, k); d < least {
			least, meant = d, k
		}
	}
	return meant
}

// distance is how many letters must be added, dropped or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

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
	if like := Nearest(unknown.GetSpecifiedName(), known); like != "" {
		meant = fmt.Sprintf(" (did you mean --%s?)", like)
	}
	below := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name())
	return fmt.Errorf("unknown flag --%s%s: list the flags with \"%s help flags%s\"", unknown.GetSpecifiedName(), meant,
		cmd.Root().Name(), below)
}
