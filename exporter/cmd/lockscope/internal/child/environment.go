package child

import (
	"errors"
	"io/fs"
	"os/exec"
	"slices"
	"strconv"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// Grant is what the environment of a command says about its lock.
type Grant struct {
	Resource string
	Fence    uint64
	Slot     int // -1: none
	Elected  bool
}

// Environment is env with the variables of the grant, and without those of another one.
func (g Grant) Environment(env ui.Env) (all []string) {
	for name, value := range env {
		if !slices.Contains(ui.GrantVars(), name) {
			all = append(all, name+"="+value)
		}
	}
	slices.Sort(all)
	fence := strconv.FormatUint(g.Fence, 10)
	all = append(all, ui.VarResource+"="+g.Resource, ui.VarFence+"="+fence)
	if g.Slot >= 0 {
		all = append(all, ui.VarSlot+"="+strconv.Itoa(g.Slot))
	}
	if g.Elected {
		all = append(all, ui.VarTerm+"="+fence)
	}
	return all
}

func isNotFound(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}
