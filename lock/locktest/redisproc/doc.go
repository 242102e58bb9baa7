// Package redisproc starts, pauses, kills, wipes and restarts real redis-server processes on the loopback interface,
// for tests and demonstrations that need the faults only a real process can have: a server that is there and does not
// answer (Pause), one that forgets everything it promised (Kill, Wipe, Restart), one whose role moves (Sentinel, or a
// Cluster with replicas).
//
//	servers, err := redisproc.StartN(ctx, 5)
//	if err != nil {
//		return err // says what to install if redis-server is missing
//	}
//	defer func() {
//		for _, s := range servers {
//			s.Stop()
//		}
//	}()
//	servers[0].Pause()
//
// # What is promised
//
// A server listens on 127.0.0.1 only, keeps its files in a directory of its own, persists nothing unless told to with
// [WithArgs], and is the process that answers on its port: another process on that port is detected. No other
// test is given that port until the server is stopped: see package ports.
//
// Servers do not outlive the program. [Server.Stop] ends one in the ordinary way. On Linux the kernel kills it when the
// program dies without having had the chance (panic, test timeout, SIGKILL); elsewhere an abrupt death leaves it
// running. Either way, what an abrupt death leaves behind is the server's directory, redisproc-* in [os.TempDir]. Each
// server is in a process group of its own, so Ctrl-C in a terminal reaches the program first, which can then stop its
// servers in order.
//
// # Which binary
//
// The one named by the environment variable LOCKSCOPE_REDIS_SERVER if it is set, else redis-server on the PATH.
package redisproc
