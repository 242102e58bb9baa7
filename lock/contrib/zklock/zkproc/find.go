package zkproc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNotInstalled means that Java or ZooKeeper's archives were not found.
var ErrNotInstalled = errors.New("ZooKeeper is not installed (Debian: apt-get install zookeeper default-jre-headless)")

// defaultJars is where Debian has the archives.
const defaultJars = "/usr/share/java"

// archives are those that a server needs.
var archives = []string{
	"zookeeper.jar", "zookeeper-jute.jar", "slf4j-api.jar", "slf4j-nop.jar", "netty-all.jar",
	"metrics-core.jar", "snappy-java.jar", "commons-cli.jar",
}

// find returns the Java program and the class path: the archives in the directory
// LOCKSCOPE_ZOOKEEPER_JARS, or where Debian has them.
func find() (java, classpath string, err error) {
	if java, err = exec.LookPath("java"); err != nil {
		return "", "", fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	dir := os.Getenv("LOCKSCOPE_ZOOKEEPER_JARS")
	if dir != "" {
		return java, filepath.Join(dir, "*"), nil
	}
	var jars []string
	for _, name := range archives {
		path := filepath.Join(defaultJars, name)
		if _, err := os.Stat(path); err != nil && strings.HasPrefix(name, "zookeeper") {
			return "", "", fmt.Errorf("%w: %w", ErrNotInstalled, err)
		}
		jars = append(jars, path)
	}
	return java, strings.Join(jars, string(os.PathListSeparator)), nil
}

// Available returns nil if servers can be started on this machine.
func Available() error {
	_, _, err := find()
	return err
}
