package flags

// Variables that run and elect set for their commands.
const (
	VarResource = Prefix + "RESOURCE"
	VarFence    = Prefix + "FENCE"
	VarTerm     = Prefix + "TERM"
	VarSlot     = Prefix + "SLOT"
)

// Grants are all of them. lockscope does not read them.
func Grants() []string { return []string{VarResource, VarFence, VarTerm, VarSlot} }
