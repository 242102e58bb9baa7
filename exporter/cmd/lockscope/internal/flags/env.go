package flags

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// Prefix begins the name of every variable.
const Prefix = "LOCKSCOPE_"

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

// Name is the variable of a flag: LOCKSCOPE_LOG_LEVEL for log.level.
func Name(flag string) string {
	return Prefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(flag))
}

// Apply sets the flags that the command line did not set from their variables.
// An empty variable counts as none. The error names the variable and never
// holds its value, which may be a secret in the wrong place.
func Apply(set *pflag.FlagSet, env Env) error {
	var first error
	set.VisitAll(func(f *pflag.Flag) {
		value := env[Name(f.Name)]
		if first != nil || f.Changed || value == "" || !bound(f) {
			return
		}
		if set.Set(f.Name, value) != nil {
			first = fmt.Errorf("%s: not a value of --%s, which is a %s", Name(f.Name), f.Name, f.Value.Type())
		}
	})
	return first
}

// Document adds to the help of every flag the name of its variable.
func Document(set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		if bound(f) && !strings.Contains(f.Usage, "$"+Prefix) {
			f.Usage += " [$" + Name(f.Name) + "]"
		}
	})
}

// bound reports whether a flag has a variable: asking for help does not.
func bound(f *pflag.Flag) bool { return f.Name != "help" && f.Name != "version" }
