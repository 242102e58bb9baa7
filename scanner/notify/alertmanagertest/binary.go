package alertmanagertest

import (
	"errors"
	"os"
	"os/exec"
)

const binaryEnv = "LOCKSCOPE_ALERTMANAGER"

// errNotInstalled says how to install Alertmanager.
var errNotInstalled = errors.New(
	`alertmanagertest: no Alertmanager: install with "apt-get install prometheus-alertmanager" ` +
		`(Debian/Ubuntu), or set ` + binaryEnv + `=/path/to/alertmanager`)

func binary() (string, error) {
	names := []string{"prometheus-alertmanager", "alertmanager"}
	if name := os.Getenv(binaryEnv); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNotInstalled
}
