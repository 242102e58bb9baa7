package draw

// Colours mean the same everywhere: green is good, orange needs a look, red needs action.
const (
	Green  = "green"
	Yellow = "yellow"
	Orange = "orange"
	Red    = "red"
	Blue   = "blue"
	Purple = "purple"
)

// Step is a threshold: the colour from this value on. The first step starts at minus infinity; its value is
// ignored.
type Step struct {
	from  float64
	color string
}

// At colours the values from this one on.
func At(from float64, color string) Step { return Step{from: from, color: color} }

// Steps colours values below all steps in base.
func Steps(base string, rest ...Step) []Step { return append([]Step{{color: base}}, rest...) }

// Neutral is for values that are neither good nor bad.
func Neutral() []Step { return Steps(Blue) }

// AnyIsBad is for counts that should be 0 and need action otherwise.
func AnyIsBad() []Step { return Steps(Green, At(1, Red)) }

// AnyIsSuspicious is for counts that should be 0 and need a look otherwise.
func AnyIsSuspicious() []Step { return Steps(Green, At(1, Orange)) }

// Above is for values that need action from bad on, and a look from half of it on.
func Above(bad float64) []Step { return Steps(Green, At(bad/2, Orange), At(bad, Red)) }

// BudgetLeft is for the share of an error budget that is left.
func BudgetLeft() []Step { return Steps(Red, At(0, Orange), At(0.25, Yellow), At(0.5, Green)) }

// AtLeast is for shares that have an objective.
func AtLeast(target float64) []Step {
	return Steps(Red, At(1-2*(1-target), Orange), At(target, Green))
}
