// Package alertmanagertest runs a real Alertmanager for tests of what talks to one.
//
//	am := alertmanagertest.Start(t)
//	n, err := notify.NewAlertmanager([]string{am.URL()})
//	...
//	alertmanagertest.Await(t, "the alert fires", func() bool { return len(am.Alerts(t)) == 1 })
//
// It listens on a free port of 127.0.0.1 only, belongs to no cluster, keeps its
// files in a directory of the test's, and sends each change to a receiver inside of
// the test at once. It ends with the test; on Linux also with a test that dies.
//
// The binary is the one named by the environment variable LOCKSCOPE_ALERTMANAGER if
// it is set, else prometheus-alertmanager (Debian's name) or alertmanager on the
// PATH. Without one the test fails and says what to install.
//
// It is for lockscope's own packages.
package alertmanagertest
