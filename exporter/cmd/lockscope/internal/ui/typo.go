package ui

import (
	"regexp"
	"slices"
	"strings"
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
