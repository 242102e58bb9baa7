package redisproc_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestNoOrphans lets a program die in two abrupt ways and expects its server to end, too.
func TestNoOrphans(t *testing.T) {
	for _, death := range []string{"panic", "SIGKILL"} {
		t.Run(death, func(t *testing.T) {
			dir := t.TempDir() // the server's directory stays here
			cmd := exec.CommandContext(withinTest(t), os.Args[0])
			cmd.Env = append(os.Environ(), helperEnv+"="+death, "TMPDIR="+dir)
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			line, err := bufio.NewReader(out).ReadString('\n')
			addr := strings.TrimSpace(line)
			if err != nil || !strings.HasPrefix(addr, "127.0.0.1:") {
				t.Fatalf("helper said %q, %v", line, err)
			}
			cmd.Process.Kill()
			cmd.Wait()
			eventually(t, "the server is gone", func() bool { return !inUse(t, dir) })
		})
	}
}

// inUse reports whether a process has a directory below dir as its working directory, as a server does.
func inUse(t *testing.T, dir string) bool {
	cwds, err := filepath.Glob("/proc/[0-9]*/cwd")
	must(t, err)
	for _, link := range cwds {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir) {
			return true
		}
	}
	return false
}

// TestServerOutlivesTheThreadThatStartedIt starts a server from an OS thread that ends. The kernel must not kill the
// server with that thread, which in real life ends at any moment.
func TestServerOutlivesTheThreadThatStartedIt(t *testing.T) {
	var s *redisproc.Server
	var err error
	task := onEndingThread(func() { s, err = redisproc.Start(withinTest(t)) })
	must(t, err)
	t.Cleanup(func() { must(t, s.Stop()) })
	eventually(t, "the thread has ended", func() bool {
		_, err := os.Stat(task)
		return os.IsNotExist(err)
	})
	for range 20 {
		must(t, client(t, s).Ping(withinTest(t)).Err())
	}
}

// onEndingThread runs fn on an OS thread that ends afterwards, and returns the thread's directory in /proc.
func onEndingThread(fn func()) string {
	ran, release := make(chan string), make(chan struct{})
	defer close(release)
	try := func() {
		runtime.LockOSThread()
		self, _ := os.Readlink("/proc/thread-self") // "<pid>/task/<tid>"
		if filepath.Base(self) == fmt.Sprint(os.Getpid()) {
			ran <- "" // this is the main thread, which never ends: keep it busy while the next try gets another thread
			<-release
			runtime.UnlockOSThread()
			return
		}
		fn()
		ran <- filepath.Join("/proc", self)
		// Without unlocking, the thread ends with the goroutine.
	}
	for {
		go try()
		if task := <-ran; task != "" {
			return task
		}
	}
}
