package ui

import "github.com/spf13/pflag"

// groupName marks a flag with the heading that help shows it under.
const groupName = "lockscope_group"

// Headings of flags that several commands have.
const (
	Servers = "Servers"
	TLS     = "TLS"
	Search  = "Search"
	Result  = "Result"
	Load    = "Load and limits"
	Alerts  = "Notification"
	Repair  = "Repair"
	Logging = "Logging"
)

// Group puts flags under a heading. It panics for a flag that set does not have.
func Group(set *pflag.FlagSet, heading string, names ...string) {
	for _, name := range names {
		if err := set.SetAnnotation(name, groupName, []string{heading}); err != nil {
			panic(err)
		}
	}
}

// GroupOf is the heading of a flag.
func GroupOf(f *pflag.Flag) string {
	if heading := f.Annotations[groupName]; len(heading) > 0 {
		return heading[0]
	}
	return "Flags"
}
