//go:build !linux

package main

import "testing"

// binaryFullDisk mounts a file system, which needs Linux.
func binaryFullDisk(t *testing.T, _ string) { t.Skip("needs Linux") }
