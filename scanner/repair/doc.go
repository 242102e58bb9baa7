// Package repair is what is to be done, and was done, to keys that were left behind: an
// [Action] and its [Result] (action.go, result.go, errors.go), and a [Plan], which people
// read and sign off (plan.go). Package scanner has the same names for it, and does it.
package repair
