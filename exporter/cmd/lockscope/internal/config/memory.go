package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/scanner"
)

// Values of --state that are no file.
const (
	stateOff   = "off"
	stateRedis = "redis"
)

// ElectResource is what processes of --elect take turns in: sweeping.
const ElectResource = "scanner"

// MemoryFlag says where is kept what sweeps know of holders and findings.
type MemoryFlag string

// Register adds the flag; unless is what the help says more of its default.
func (m *MemoryFlag) Register(set *pflag.FlagSet, unless string) {
	set.StringVar((*string)(m), "state", "",
		"`place` to remember holders and findings: a file, redis or off. "+
			"redis and redis:NAME use a key below lockscope:scanner:memory: on the servers"+unless)
	ui.Group(set, ui.Result, "state")
}

// Options are none if nothing is to be kept; elected says that several processes take turns.
func (m MemoryFlag) Options(g *Group, elected bool) ([]scanner.Option, error) {
	place, nodes := string(m), g.Nodes
	if place == "" && elected && g.System == nil { // a system has none to share
		place = stateRedis
	}
	kind, name, named := strings.Cut(place, ":")
	switch {
	case place == "" || place == stateOff:
		return nil, nil
	case kind == stateRedis && g.System != nil:
		return nil, errRedisMemory
	case place == stateRedis:
		return []scanner.Option{scanner.WithMemory(scanner.RedisStore(servers.Clients(nodes), ElectResource))}, nil
	case kind == stateRedis && named && name != "":
		return []scanner.Option{scanner.WithMemory(scanner.RedisStore(servers.Clients(nodes), name))}, nil
	}
	if dir, err := os.Stat(filepath.Dir(place)); err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	} else if !dir.IsDir() {
		return nil, fmt.Errorf("--state %s: %s is not a directory", place, filepath.Dir(place))
	}
	return []scanner.Option{scanner.WithMemory(scanner.FileStore(place + g.suffix()))}, nil
}

// suffix is what a group's own files end with; groups of one name have servers of their
// own.
func (g *Group) suffix() string {
	name := ""
	switch {
	case g.System != nil:
		name = g.System.Backend() + "-" + g.System.Node()
	case g.Name != "":
		name = g.Name + "-" + g.Nodes[0].Name
	default:
		return ""
	}
	return "." + strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}
