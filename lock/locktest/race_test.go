//go:build race

package locktest_test

const raceEnabled = true
