// Package alertmanagertest runs a real Alertmanager for tests.
//
//	am := alertmanagertest.Start(t)
//	n, err := notify.NewAlertmanager(notify.Alertmanager{URLs: []string{am.URL()}})
//	...
//	alertmanagertest.Await(t, "the alert fires", func() bool { return len(am.Alerts(t)) == 1 })
//
// It listens on a free port of 127.0.0.1, belongs to no cluster, keeps its files in a directory of the test, and
// sends each change at once to a receiver inside the test. It ends with the test, and on Linux also when the test
// process dies.
//
// The environment variable LOCKSCOPE_ALERTMANAGER names the binary. Without it, the package looks on the PATH for
// prometheus-alertmanager (Debian's name) or alertmanager. If there is none, the test fails and says what to install.
//
// It is for lockscope's own packages: users have no need of it.
package alertmanagertest
