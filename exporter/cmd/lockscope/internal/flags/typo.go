package flags

import (
	"slices"
	"strings"
)

// farTypo is how many letters may differ for one name to be taken for another.
const farTypo = 2

// Typo is a variable that nothing reads, and the one that was probably meant.
type Typo struct{ Name, Meant string }

// Typos finds the variables of env that look like one of known and are not. A
// strange one that resembles nothing is left alone: Kubernetes gives pods
// LOCKSCOPE_PORT and more for a Service called lockscope.
func Typos(env Env, known []string) []Typo {
	var found []Typo
	for name := range env {
		if !strings.HasPrefix(name, Prefix) || slices.Contains(known, name) {
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
