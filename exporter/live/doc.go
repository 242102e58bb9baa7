// Package live keeps what a process knows about its locks at this instant.
package live
