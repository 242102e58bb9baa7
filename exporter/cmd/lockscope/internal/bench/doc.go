// Package bench is the command bench.
package bench
