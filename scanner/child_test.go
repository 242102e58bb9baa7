package scanner_test

import "os"

// childMain does the job of a child process.
func childMain(job string) int {
	switch job {
	case memoryJob:
		return sweepForMemory()
	case leaderJob:
		return lead()
	}
	_, _ = os.Stderr.WriteString("no such job: " + job + "\n")
	return 2
}
