//go:build linux

package wallclock

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed shim/wallclock.c
var source []byte

// ErrNoCompiler says that the shim, which is C, cannot be compiled.
var ErrNoCompiler = errors.New(
	`wallclock: no C compiler: install with "apt-get install gcc libc6-dev" (Debian/Ubuntu), or set CC`)

// Shim is the compiled library that programs with a clock of their own are started with.
type Shim struct {
	dir, library string
}

// Build compiles the shim into dir, where the clocks' files will be, too. It fails with
// ErrNoCompiler, or with what the compiler says.
func Build(dir string) (*Shim, error) {
	name := os.Getenv("CC")
	if name == "" {
		name = "cc"
	}
	compiler, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrNoCompiler, err)
	}
	s := &Shim{dir: dir, library: filepath.Join(dir, "wallclock.so")}
	file := filepath.Join(dir, "wallclock.c")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return nil, err
	}
	out, err := exec.Command(compiler, "-O2", "-Wall", "-shared", "-fPIC", "-o", s.library, file).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("wallclock: %s: %w\n%s", compiler, err, out)
	}
	return s, nil
}
