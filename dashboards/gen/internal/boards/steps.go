package boards

import "github.com/lockscope/lockscope/dashboards/gen/internal/config"

// Colours mean the same everywhere: green is good, orange needs a look, red needs action.
const (
	green  = "green"
	yellow = "yellow"
	orange = "orange"
	red    = "red"
	blue   = "blue"
	purple = "purple"
)

// step is a threshold: the colour from this value on. The first step starts at minus infinity; its value is
// ignored.
type step struct {
	from  float64
	color string
}

func steps(base string, rest ...step) []step { return append([]step{{color: base}}, rest...) }

// Steps of several panels.
func neutral() []step          { return steps(blue) }
func anyIsBad() []step         { return steps(green, step{1, red}) }
func anyIsSuspicious() []step  { return steps(green, step{1, orange}) }
func above(bad float64) []step { return steps(green, step{bad / 2, orange}, step{bad, red}) }
func budgetLeft() []step       { return steps(red, step{0, orange}, step{0.25, yellow}, step{0.5, green}) }
func atLeast(target float64) []step {
	return steps(red, step{1 - 2*(1-target), orange}, step{target, green})
}

// burnRate returns steps at the factors at which alerts fire.
func burnRate(slo config.SLO) []step {
	slowest, fastest := factors(slo)
	return steps(green, step{slowest, orange}, step{fastest, red})
}

// factors returns the lowest and the highest burn rate at which an alert fires.
func factors(slo config.SLO) (slowest, fastest float64) {
	slowest = slo.Windows[0].Factor
	for _, w := range slo.Windows {
		slowest, fastest = min(slowest, w.Factor), max(fastest, w.Factor)
	}
	return slowest, fastest
}
