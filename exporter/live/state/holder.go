package state

// What every view calls a holder whose lock's value does not name it.
const (
	Unnamed        = "unnamed"
	UnnamedForever = "unnamed, never expires"
)

// HolderName is what views call a holder: its instance, or its substitute.
func HolderName(instance string, neverExpires bool) string {
	switch {
	case instance != "":
		return instance
	case neverExpires:
		return UnnamedForever
	}
	return Unnamed
}
