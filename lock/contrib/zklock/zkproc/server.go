package zkproc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

const (
	logName   = "zookeeper"
	loopback  = "127.0.0.1"
	pollEvery = 50 * time.Millisecond
	askWithin = time.Second
)

// Server is one ZooKeeper server. Its process may end and start again; address and data stay until the
// ensemble stops. Only Addr may be called concurrently.
type Server struct {
	dir     string
	id      int
	ports   serverPorts
	options []string // of the Java machine
	process *process.Process
}

// serverPorts are where clients, followers and candidates of an election connect.
type serverPorts struct{ client, quorum, election int }

// Addr returns the address for clients.
func (s *Server) Addr() string { return net.JoinHostPort(loopback, strconv.Itoa(s.ports.client)) }

// configure writes the configuration for one of these members.
func (s *Server) configure(members []*Server, settings []string) error {
	lines := append([]string{
		"dataDir=" + s.dir, "clientPort=" + strconv.Itoa(s.ports.client), "clientPortAddress=" + loopback,
		"tickTime=" + strconv.Itoa(int(Tick.Milliseconds())), "initLimit=40", "syncLimit=10", "maxClientCnxns=0",
		"minSessionTimeout=1000", "maxSessionTimeout=60000", "admin.enableServer=false", "4lw.commands.whitelist=srvr",
	}, settings...)
	if len(members) > 1 {
		for _, m := range members {
			lines = append(lines, fmt.Sprintf("server.%d=%s:%d:%d", m.id, loopback, m.ports.quorum, m.ports.election))
		}
	}
	return errors.Join(
		os.WriteFile(filepath.Join(s.dir, "zoo.cfg"), []byte(strings.Join(lines, "\n")+"\n"), 0o600),
		os.WriteFile(filepath.Join(s.dir, "myid"), []byte(strconv.Itoa(s.id)), 0o600),
	)
}

// Start starts the server on its data, and does not wait until it serves. It kills a running process first.
func (s *Server) Start() error {
	if err := s.Kill(); err != nil {
		return err
	}
	java, classpath, err := find()
	if err != nil {
		return err
	}
	args := append([]string{"-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classpath}, s.options...)
	cmd := exec.Command(java, append(args, "org.apache.zookeeper.server.quorum.QuorumPeerMain",
		filepath.Join(s.dir, "zoo.cfg"))...)
	s.process, err = process.Start(logName, s.dir, cmd)
	return err
}

// Await returns when the server serves: alone or as part of a quorum.
func (s *Server) Await(ctx context.Context) error {
	for {
		if mode, err := s.Mode(); err == nil && mode != "" {
			return nil
		}
		select {
		case <-s.process.Done():
			return fmt.Errorf("%w\n%s", s.process.Err(), s.process.Tail())
		case <-ctx.Done():
			return fmt.Errorf("zkproc: %s does not serve: %w\n%s", s.Addr(), ctx.Err(), s.process.Tail())
		case <-time.After(pollEvery):
		}
	}
}

// Mode returns the mode that the server reports: "leader", "follower" or "standalone"; "" if it does not
// serve.
func (s *Server) Mode() (string, error) {
	conn, err := net.DialTimeout("tcp", s.Addr(), askWithin)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(askWithin)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return "", err
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if mode, ok := strings.CutPrefix(line, "Mode: "); ok {
			return strings.TrimSpace(mode), nil
		}
	}
	return "", nil
}

// Pause stops the server with SIGSTOP; Resume lets it run again.
func (s *Server) Pause() error { return s.process.Freeze() }

// Resume ends a Pause.
func (s *Server) Resume() error { return s.process.Thaw() }

// Kill ends the server's process as a crash does. It does nothing if the server does not run.
func (s *Server) Kill() error {
	if s.process == nil || !s.process.Running() {
		return nil
	}
	return s.process.Kill()
}
