package alertmanagertest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

const (
	binaryEnv = "LOCKSCOPE_ALERTMANAGER"
	stopGrace = 5 * time.Second
	logName   = "alertmanager.log"
)

// errNotInstalled says how to get an Alertmanager.
var errNotInstalled = errors.New(`alertmanagertest: no Alertmanager: install with "apt-get install prometheus-alertmanager" ` +
	`(Debian/Ubuntu), or set ` + binaryEnv + `=/path/to/alertmanager`)

// binary returns an absolute path, because the process runs in a directory of its own.
func binary() (string, error) {
	names := []string{"prometheus-alertmanager", "alertmanager"}
	if name := os.Getenv(binaryEnv); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", errNotInstalled
}

// process is a running Alertmanager, from exec until it has been reaped.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when reaped
	log  string
}

func launch(bin, dir string, args []string) (*process, error) {
	p := &process{cmd: exec.Command(bin, args...), done: make(chan struct{}), log: filepath.Join(dir, logName)}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	p.cmd.SysProcAttr = sysProcAttr()
	started := make(chan error)
	go p.own(out, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// own starts the process and waits for it on one OS thread: the parent-death signal
// is sent when the thread that made the child ends (golang/go#27505).
func (p *process) own(out *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer out.Close()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.cmd.Wait() // how it ended is in cmd.ProcessState
	close(p.done)
}

var listening = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+)`)

// address returns where the process listens once it has said so.
func (p *process) address() (string, error) {
	select {
	case <-p.done:
		return "", fmt.Errorf("exited: %v", p.cmd.ProcessState)
	default:
	}
	text, err := os.ReadFile(p.log)
	if err != nil {
		return "", err
	}
	if m := listening.FindSubmatch(text); m != nil {
		return string(m[1]), nil
	}
	return "", nil
}

// stop asks the process to exit and kills it if it has not within stopGrace.
func (p *process) stop() {
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	if askToExit(p.cmd.Process) == nil {
		select {
		case <-p.done:
			return
		case <-timer.C:
		}
	}
	p.cmd.Process.Kill() // an error means that it is gone
	<-p.done
}
