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

// step is a threshold: the colour from this value on. The first step starts at minus infinity; its value is
// ignored.
type Step struct {
	from  float64
	color string
}

// at colours the values from this one on.
func At(from float64, color string) Step { return Step{from: from, color: color} }

func Steps(base string, rest ...Step) []Step { return append([]Step{{color: base}}, rest...) }

// Steps of several panels.
func Neutral() []Step          { return Steps(Blue) }
func AnyIsBad() []Step         { return Steps(Green, At(1, Red)) }
func AnyIsSuspicious() []Step  { return Steps(Green, At(1, Orange)) }
func Above(bad float64) []Step { return Steps(Green, At(bad/2, Orange), At(bad, Red)) }
func BudgetLeft() []Step       { return Steps(Red, At(0, Orange), At(0.25, Yellow), At(0.5, Green)) }
func AtLeast(target float64) []Step {
	return Steps(Red, At(1-2*(1-target), Orange), At(target, Green))
}
