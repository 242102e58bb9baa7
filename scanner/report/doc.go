// Package report is what a scanner reports: findings, gaps, and the policies that it judged by. A program that only
// reads reports, or makes a report of another system's locks, needs only this package and the words of
// [github.com/lockscope/lockscope/lock/driver/inspect].
//
//	findings                     finding.go
//	policies, exclusions         policy.go
//	reports, errors              report.go, errors.go
//	reports of several scanners  merge.go
//	the JSON form                document.go
package report
