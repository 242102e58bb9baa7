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
func (m memoryFlag) options(g *group, elected bool) ([]scanner.Option, error) {
	place, nodes := string(m), g.nodes
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
	return []scanner.Option{scanner.WithMemory(scanner.FileStore(place + g.suffix()))}, nil
}

// suffix is what a group's own files end with; groups of one name have servers of their
// own.
func (g *group) suffix() string {
	if g.name == "" {
		return ""
	}
	return "." + strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, g.name+"-"+g.nodes[0].Name)
}
