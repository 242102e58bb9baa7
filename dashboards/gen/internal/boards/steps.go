package boards

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

// at colours the values from this one on.
func at(from float64, color string) step { return step{from: from, color: color} }

func steps(base string, rest ...step) []step { return append([]step{{color: base}}, rest...) }

// Steps of several panels.
func neutral() []step          { return steps(blue) }
func anyIsBad() []step         { return steps(green, at(1, red)) }
func anyIsSuspicious() []step  { return steps(green, at(1, orange)) }
func above(bad float64) []step { return steps(green, at(bad/2, orange), at(bad, red)) }
func budgetLeft() []step       { return steps(red, at(0, orange), at(0.25, yellow), at(0.5, green)) }
func atLeast(target float64) []step {
	return steps(red, at(1-2*(1-target), orange), at(target, green))
}
