package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/locktest"
)

// start NAME ARGUMENT... runs lockscope beside the script, as a process with this name.
func startProcess(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	of(ts).started[args[0]] = cmdtest.Start(of(ts), args[1:]...)
	return cmdtest.Outcome{}
}

func (p *place) process(name string) *cmdtest.Started {
	started := p.started[name]
	if started == nil {
		p.Fatalf("no process %s was started", name)
	}
	return started
}

// log NAME shows what a process has written so far.
func showLog(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	p := of(ts).process(args[0])
	return cmdtest.Outcome{Out: p.Out(), Err: p.Log()}
}

// ended NAME [LIMIT] waits for the end of a process, which may take so long.
func awaitEnd(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	limit, began := patience, time.Now()
	if len(args) > 1 {
		var err error
		limit, err = time.ParseDuration(args[1])
		ts.Check(err)
	}
	o := of(ts).process(args[0]).Wait()
	if took := time.Since(began); took > limit {
		ts.Fatalf("it took %v", took)
	}
	return o
}

// signal SIGNAL NAME
func sendSignal(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	known := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": os.Kill}
	ts.Check(of(ts).process(args[1]).Signal(known[args[0]]))
	return cmdtest.Outcome{}
}

// http URL shows a page, with its status as the exit status unless that is 200. A server that is not there yet has
// status 1.
func getPage(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	resp, err := http.Get(args[0]) //nolint:noctx // a test
	if err != nil {
		return cmdtest.Outcome{Status: 1, Err: err.Error() + "\n"}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if resp.StatusCode == http.StatusOK {
		return cmdtest.Outcome{Out: string(body)}
	}
	return cmdtest.Outcome{Status: resp.StatusCode, Out: string(body)}
}

// receiver NAME [STATUS] is an HTTP server whose address is in the variable NAME. It answers with STATUS.
func startReceiver(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	status := http.StatusOK
	if len(args) > 1 {
		var err error
		status, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	requests := make(chan string, 1000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		requests <- strings.Join([]string{r.Method, r.URL.Path, user, password, string(body)}, " ")
		w.WriteHeader(status)
	}))
	of(ts).Cleanup(s.Close)
	of(ts).requests[args[0]] = requests
	ts.Setenv(args[0], s.Listener.Addr().String())
	return cmdtest.Outcome{}
}

// received NAME shows the next request to a receiver: method, path, user, password, body.
func nextRequest(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	select {
	case text := <-of(ts).requests[args[0]]:
		return cmdtest.Outcome{Out: text}
	case <-time.After(patience):
		ts.Fatalf("nothing was sent to %s", args[0])
		return cmdtest.Outcome{}
	}
}

// cat FILE shows a file; status 1 if there is none.
func showFile(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	if err != nil {
		return cmdtest.Outcome{Status: 1, Err: err.Error() + "\n"}
	}
	return cmdtest.Outcome{Out: string(text)}
}

// expand FILE... replaces variables, such as addresses, in files of the script.
func expand(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	for _, file := range args {
		text := os.Expand(ts.ReadFile(file), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
	return cmdtest.Outcome{}
}

// port NAME reserves a port for the script.
func reservePort(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	ts.Setenv(args[0], strconv.Itoa(locktest.Port(of(ts))))
	return cmdtest.Outcome{}
}

// makeCertificate makes cert.pem and key.pem, for 127.0.0.1.
func makeCertificate(ts *testscript.TestScript, _ []string) cmdtest.Outcome {
	cert, key := cmdtest.Certificate(of(ts))
	for name, file := range map[string]string{"cert.pem": cert, "key.pem": key} {
		ts.Check(os.Rename(file, ts.MkAbs(name)))
	}
	return cmdtest.Outcome{}
}
