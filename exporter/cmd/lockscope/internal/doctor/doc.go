// Package doctor is what examines, prepares and changes a set of servers.
//
// lockscope doctor examines all systems and shows the results of package diagnosis. lockscope init declares nodes new with
// redlock.VouchNew, and reports the outcome and the next step for each node; with --postgres it creates or upgrades the
// schema of pglock instead. lockscope reconfigure changes the members of a set, or its longest TTL.
package doctor
