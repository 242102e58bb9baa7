//go:build linux

// Package worker is one client process of a campaign: callers that take, renew, hand over,
// extend, release and forget leases, write to the ledger while they hold them, and write
// down what they were told. It works until it is asked to end, or killed.
package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// environment carries a Config to the process that is to work.
const environment = "LOCKSCOPE_PROVE_WORKER"

// Config is what a worker is told.
type Config struct {
	Name      string   // of this process: no two of a campaign have the same
	Dir       string   // where its files go
	Ledger    string   // address
	Nodes     []string // addresses, each a proxy of this client's own
	NodeNames []string // what the nodes are called in every process
	Resources []string
	Callers   int
	Builders  int // callers that use what is built on locks
	MaxTTL    time.Duration
	// NodeTimeout is longer than the default: the machine has other things to do than to answer in time.
	NodeTimeout time.Duration
	Pace        time.Duration // what a caller pauses between two locks, on average
	Seed        uint64
	// Turn is the number of the first caller and the first builder. It decides what they do, where a process has too
	// few of them for everything.
	Turn int
	// Views makes the worker serve /metrics and its live page, as a service does.
	Views bool
	// Quiet makes the worker look at itself a tenth as often.
	Quiet bool
	// Leak plants a leak, for a soak that must find it.
	Leak Leak

	// Forge makes it take no locks at all: it claims leases with the fence that the ledger
	// has seen last. A campaign with such a worker must find violations.
	Forge bool
}

// Command is the process that works as told: this program again.
func (c Config) Command() (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), environment+"="+string(text))
	return cmd, nil
}

// FromEnvironment returns what this process is told, if it is a worker.
func FromEnvironment() (c Config, isWorker bool, err error) {
	text, isWorker := os.LookupEnv(environment)
	if !isWorker {
		return c, false, nil
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, true, fmt.Errorf("%s: %w", environment, err)
	}
	return c, true, nil
}

// The files of a worker.
func (c Config) file(what string) string { return filepath.Join(c.Dir, c.Name+"."+what) }

// HistoryFile has a line for each event.
func (c Config) HistoryFile() string { return c.file("history") }

// MetricsFile has a line for each time the metrics were read.
func (c Config) MetricsFile() string { return c.file("metrics") }

// LogFile is what the locker's logger wrote.
func (c Config) LogFile() string { return c.file("log.json") }
