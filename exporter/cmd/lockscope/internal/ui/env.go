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

// VarPrefix begins the name of every variable.
const VarPrefix = "LOCKSCOPE_"

// Env is an environment: variables by name.
type Env map[string]string

// ParseEnv reads the form of os.Environ. Of a name given twice the last one counts.
func ParseEnv(environ []string) Env {
	env := make(Env, len(environ))
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	return env
}

// VariableName is the variable of a flag: LOCKSCOPE_LOG_LEVEL for log.level.
func VariableName(flag string) string {
	return VarPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(flag))
}

// ApplyEnv sets the flags that the command line did not set from their variables.
// An empty variable counts as none. The error names the variable and never
// holds its value, which may be a secret in the wrong place.
func ApplyEnv(set *pflag.FlagSet, env Env) error {
	var first error
	set.VisitAll(func(f *pflag.Flag) {
		value := env[VariableName(f.Name)]
		if first != nil || f.Changed || value == "" || !bound(f) {
			return
		}
		if set.Set(f.Name, value) != nil {
			first = fmt.Errorf("%s: bad value for --%s, which takes a %s", VariableName(f.Name), f.Name, f.Value.Type())
		}
	})
	return first
}

// commandLineOnly marks a flag that no variable sets.
const commandLineOnly = "lockscope_command_line_only"

// CommandLineOnly takes the variables of flags away, for flags that do harm if they are set
// by mistake or by somebody else.
func CommandLineOnly(set *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = set.SetAnnotation(name, commandLineOnly, nil) // fails for a flag that is not there
	}
}

// UnreadVars names the variables in env of flags that no variable sets.
func UnreadVars(set *pflag.FlagSet, env Env) (names []string) {
	set.VisitAll(func(f *pflag.Flag) {
		if _, only := f.Annotations[commandLineOnly]; only && env[VariableName(f.Name)] != "" {
			names = append(names, VariableName(f.Name))
		}
	})
	return names
}

// Variable is the variable that sets a flag, if one does.
func Variable(f *pflag.Flag) (name string, ok bool) { return VariableName(f.Name), bound(f) }

// bound reports whether a flag has a variable: asking for help does not.
func bound(f *pflag.Flag) bool {
	_, only := f.Annotations[commandLineOnly]
	return f.Name != "help" && f.Name != "version" && !only
}

// Variables without a flag: a command line is no place for secrets.
const (
	VarRedisPassword    = VarPrefix + "REDIS_PASSWORD"
	VarSentinelPassword = VarPrefix + "SENTINEL_PASSWORD"
	VarPostgresPassword = VarPrefix + "POSTGRES_PASSWORD"
	VarEtcdPassword     = VarPrefix + "ETCD_PASSWORD"
	VarZooKeeperAuth    = VarPrefix + "ZOOKEEPER_AUTH"
)

// SecretVars are all of them.
func SecretVars() []string {
	return []string{VarRedisPassword, VarSentinelPassword, VarPostgresPassword, VarEtcdPassword, VarZooKeeperAuth}
}

// Variables that run and elect set for their commands.
const (
	VarResource = VarPrefix + "RESOURCE"
	VarFence    = VarPrefix + "FENCE"
	VarTerm     = VarPrefix + "TERM"
	VarSlot     = VarPrefix + "SLOT"
)

// GrantVars are all of them. lockscope does not read them.
func GrantVars() []string { return []string{VarResource, VarFence, VarTerm, VarSlot} }

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
	meant := didYouMean("", strings.Join(cmd.SuggestionsFor(args[0]), " or "))
	return fmt.Errorf("unknown command %q%s: %s", args[0], meant, list)
}

// didYouMean suggests a name; "" for none.
func didYouMean(prefix, name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s%s?)", prefix, name)
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
	meant := didYouMean("--", Nearest(unknown.GetSpecifiedName(), known))
	below := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name())
	return fmt.Errorf("unknown flag --%s%s: list the flags with \"%s help flags%s\"", unknown.GetSpecifiedName(), meant,
		cmd.Root().Name(), below)
}
