package etcdproc

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

// Member is one member of a cluster. Its process may end and start again; addresses and data stay until the
// cluster's Stop. Its methods must not be called concurrently.
type Member struct {
	name, dir    string
	client, peer string // URLs
	cluster      string // all members' names and peer URLs
	options      []string
	secure       *tls.Config
	process      *process.Process
}

// Endpoint returns the URL for clients.
func (m *Member) Endpoint() string { return m.client }

// Name returns the member's name in its cluster.
func (m *Member) Name() string { return m.name }

func (m *Member) data() string { return filepath.Join(m.dir, "data") }

// Start starts the member on its data, and does not wait until it serves. It kills a running process first.
func (m *Member) Start() error {
	if err := m.Kill(); err != nil {
		return err
	}
	bin, err := binary()
	if err != nil {
		return err
	}
	args := append([]string{
		"--name", m.name, "--data-dir", m.data(), "--log-level", "error", "--logger", "zap",
		"--listen-client-urls", m.client, "--advertise-client-urls", m.client,
		"--listen-peer-urls", m.peer, "--initial-advertise-peer-urls", m.peer, "--initial-cluster", m.cluster,
	}, m.options...)
	m.process, err = process.Start(m.name, m.dir, exec.Command(bin, args...))
	return err
}

// Pause stops the member, as if its machine hung; Resume lets it run again.
func (m *Member) Pause() error { return m.process.Freeze() }

// Resume ends a Pause.
func (m *Member) Resume() error { return m.process.Thaw() }

// Kill ends the member's process as a crash does. It does nothing if the member does not run.
func (m *Member) Kill() error {
	if m.process == nil || !m.process.Running() {
		return nil
	}
	return m.process.Kill()
}

// Save copies the data of a member. The member must not run.
func (m *Member) Save() error {
	if m.process != nil && m.process.Running() {
		return fmt.Errorf("%s runs", m.name)
	}
	saved := filepath.Join(m.dir, "saved")
	return errors.Join(os.RemoveAll(saved), os.CopyFS(saved, os.DirFS(m.data())))
}

// Restore replaces the data of a member with the saved copy. The member must not run.
func (m *Member) Restore() error {
	if m.process != nil && m.process.Running() {
		return fmt.Errorf("%s runs", m.name)
	}
	return errors.Join(os.RemoveAll(m.data()), os.CopyFS(m.data(), os.DirFS(filepath.Join(m.dir, "saved"))))
}
