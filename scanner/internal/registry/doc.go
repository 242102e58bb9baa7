// Package registry keeps the findings of a scanner from sweep to sweep (findings.go, entry.go), and passes them and
// the holders to the next process: in a form without values (state.go), in a file or in Redis (file.go,
// redis.go).
package registry
