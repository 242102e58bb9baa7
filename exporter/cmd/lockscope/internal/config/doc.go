// Package config reads the configuration file of lockscope: independent groups of Redis servers or of another system,
// the limits of their locks, and where findings are sent.
//
// It is strict: an unknown name is an error with its line and the name that was probably meant. No error repeats a
// value, which could be a secret.
package config
