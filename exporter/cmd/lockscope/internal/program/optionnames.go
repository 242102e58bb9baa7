package program

import "regexp"

// OptionText is how the packages below name an option whose value they refuse.
var OptionText = regexp.MustCompile(`(?:\w+: invalid option: )?\b(With[A-Z]\w*)(?:\(([^)]*)\))?`)

// flagNames are the flags that reach options of the packages below.
func flagNames() map[string]string {
	return map[string]string{
		"WithTTLLimit": "--max-ttl", "WithHoldLimit": "--max-hold", "WithTermLimit": "--max-term",
		"WithInterval": "--interval", "WithDeadline": "--deadline",
		"WithPause": "--pause", "WithConfirmAfter": "--confirm-after", "WithRepairMinAge": "--min-age",
		"WithPageSize":    "--page-size",
		"WithMaxFindings": "--max-findings", "WithMaxWatched": "--max-watched", "WithMaxValues": "--max-values",
		"WithNodeNames": "--node-names", "WithReplicas": "--replica", "WithPatterns": "--pattern",
		"WithChecks": "--checks",
		"WithMaxTTL": "--max-ttl", "WithPrefix": "--prefix",
		"WithSchema":      "--schema",
		"WithNodeTimeout": "--node-timeout", "WithOneRedlock": "--redlock", "WithEmptyAllowed": "--allow-empty",
		"WithMarkerIdentity": "--marker-identity", "WithoutEviction": "--without-eviction",
		"WithEvictingNodes": "--evicting-nodes", "WithoutGuard": "--without-guard",
	}
}

// inFlags replaces the names of Go's options by those of flags, which are what the user of a command knows.
func inFlags(text string) string {
	flags := flagNames()
	return OptionText.ReplaceAllStringFunc(text, func(found string) string {
		parts := OptionText.FindStringSubmatch(found)
		flag, known := flags[parts[1]]
		switch {
		case !known:
			return found
		case parts[2] == "":
			return flag
		}
		return flag + " " + parts[2]
	})
}
