package program

import (
	"slices"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
)

// connectionAdvice is what to do about servers that could not be asked, if the cause is known, each advice once.
// Commands whose tables have it for each node return no such error.
func connectionAdvice(err error) (all []string) {
	switch joined := err.(type) {
	case interface{ Unwrap() []error }:
		for _, one := range joined.Unwrap() {
			for _, advice := range connectionAdvice(one) {
				if !slices.Contains(all, advice) {
					all = append(all, advice)
				}
			}
		}
	case interface{ Unwrap() error }:
		if inner := joined.Unwrap(); inner != nil {
			all = connectionAdvice(inner)
		}
	}
	if len(all) > 0 {
		return all
	}
	if advice := diagnosis.KnownAdvice(err); advice != "" {
		return []string{advice}
	}
	return nil
}
