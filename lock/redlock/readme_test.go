package redlock_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeShowsTheTestedACL compares the README's ACL line with the tested one.
func TestReadmeShowsTheTestedACL(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "<!-- acl -->\n```\n")
	shown, _, closed := strings.Cut(rest, "\n```\n<!-- /acl -->")
	if !closed {
		t.Fatal("README.md has no ACL line")
	}
	if want := strings.ReplaceAll(leastPrivilege, aclPassword, "PASSWORD"); shown != want {
		t.Errorf("README.md shows\n%s\nand the test uses\n%s", shown, want)
	}
}
