// Package config reads the configuration file of lockscope: groups of servers that have
// nothing to do with each other, what is right for their locks, and who is told.
//
// It is strict: what it does not know is an error with its line and the name that was
// probably meant. No error holds a value that could be a secret.
package config
