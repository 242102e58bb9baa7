// Package output is how results are written: as a table or as JSON, and durations and holders as people read them.
package output
