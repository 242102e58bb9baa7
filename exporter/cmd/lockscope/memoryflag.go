package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/scanner"
)

// Values of --state that are no file.
const (
	stateOff   = "off"
	stateRedis = "redis"
)

// memoryFlag says where is kept what sweeps know of holders and findings.
type memoryFlag string

func (m *memoryFlag) register(set *pflag.FlagSet, unless string) {
	set.StringVar((*string)(m), "state", "", "keep what is known of holders and findings between processes: a FILE, or redis or redis:NAME for a key below "+
		"lockscope:scanner:memory: on the servers; off for not at all"+unless)
}

// options are none if nothing is to be kept; elected says that several processes take turns.
func (m memoryFlag) options(nodes []target.Node, elected bool) ([]scanner.Option, error) {
	place := string(m)
	if place == "" && elected {
		place = stateRedis
	}
	kind, name, named := strings.Cut(place, ":")
	switch {
	case place == "" || place == stateOff:
		return nil, nil
	case place == stateRedis:
		return []scanner.Option{scanner.WithMemory(scanner.RedisStore(target.Clients(nodes), electResource))}, nil
	case kind == stateRedis && named && name != "":
		return []scanner.Option{scanner.WithMemory(scanner.RedisStore(target.Clients(nodes), name))}, nil
	}
	if dir, err := os.Stat(filepath.Dir(place)); err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	} else if !dir.IsDir() {
		return nil, fmt.Errorf("--state %s: %s is no directory", place, filepath.Dir(place))
	}
	return []scanner.Option{scanner.WithMemory(scanner.FileStore(place))}, nil
}
