package main

// equivalent are mutants that no test can notice: what they are called, and why.
var equivalent = map[string]string{}

// reason says why a mutant cannot be noticed, or is empty.
func reason(m mutant) string { return equivalent[m.String()] }
