// Package vouch is lockscope init: it declares nodes new with redlock.Vouch, and reports the outcome and the next step
// for each node. With --postgres it creates or upgrades the schema of pglock instead.
package vouch
