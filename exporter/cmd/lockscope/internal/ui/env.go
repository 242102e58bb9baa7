package ui

import (
	"fmt"
	"strings"

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
