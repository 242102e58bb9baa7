package servers

import (
	"slices"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// fields are the names in a configuration file of what remedies call by their flags. Longer names come first.
var fields = strings.NewReplacer(
	"--postgres-password-file, "+ui.VarPostgresPassword, "password_file",
	"--postgres-password-file", "password_file", "--postgres", "postgres", "--schema", "schema",
	"--etcd-username", "username", "--etcd-password-file", "password_file", "--etcd-prefix", "etcd_prefix",
	"--etcd-fence-key", "etcd_fence_key", "--zookeeper-root", "zookeeper_root", "--zookeeper", "zookeeper",
	"set "+ui.VarZooKeeperAuth+" to the", "write into zookeeper_auth_file the", ui.VarZooKeeperAuth,
	"the text of zookeeper_auth_file", "--tls-ca", "tls.ca", "--tls-cert", "tls.cert", "--tls-key", "tls.key",
	"a --tls flag is set", "tls is set",
	"leave the flag out", "leave it out", "use --allow-empty", "set allow_empty: true", "--prefix", "prefixes",
)

// fileError is an error whose remedy names fields of a configuration file.
type fileError struct{ error }

func (e *fileError) Error() string { return fields.Replace(e.error.Error()) }

func (e *fileError) Unwrap() error { return e.error }

// OpenFromFile is [Flags.OpenOthers] for a group of a configuration file.
func OpenFromFile(c *OtherConfig) ([]Other, error) {
	all, err := openOthers(c)
	return all, InFile(err)
}

// InFile has the remedy of an error name fields of a configuration file.
func InFile(err error) error {
	if err == nil {
		return nil
	}
	return &fileError{err}
}

func lookOfFile(l *inspect.Look) {
	for _, gaps := range []*[]inspect.Gap{&l.Gaps, &l.Skipped} {
		*gaps = slices.Clone(*gaps)
		for i := range *gaps {
			(*gaps)[i].Detail = fields.Replace((*gaps)[i].Detail)
		}
	}
}
