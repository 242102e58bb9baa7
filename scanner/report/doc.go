// Package report is what a scanner reports: what it found wrong with locks, what it did
// not read, and the policies it judged by. Package scanner has the same names for most of
// it; whoever only reads reports, or makes one of another system's locks, needs no more
// than this.
//
//	one finding                  finding.go, who holds the lock holder.go
//	what is right for which lock policy.go
//	a sweep's report             report.go, what is missing of it gap.go, errors.go
//	reports of several scanners  merge.go
//	the JSON form                document.go
package report
