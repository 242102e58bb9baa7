package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newKey makes a throwaway key, and a signers file that names it.
func newKey(t *testing.T) (key, signers string) {
	t.Helper()
	dir := t.TempDir()
	key, signers = filepath.Join(dir, "key"), filepath.Join(dir, "signers")
	cmd := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	must(t, err)
	must(t, os.WriteFile(signers, []byte(identity+" "+string(public)), 0o644))
	return key, signers
}

// delivered is a folder with two files and their checksums.
func delivered(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.tar.gz"), []byte("a"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "b.deb"), []byte("b"), 0o644))
	must(t, writeSums(dir))
	return dir
}

// verify runs the line that sign printed, as a user does.
func verify(t *testing.T, dir, report string) (string, error) {
	t.Helper()
	_, line, ok := strings.Cut(report, "\n\n")
	if !ok {
		t.Fatalf("there is no line to verify with in %q", report)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestSign signs with a throwaway key from a file or the variable. The printed command accepts these files and refuses
// others.
func TestSign(t *testing.T) {
	key, signers := newKey(t)
	private, err := os.ReadFile(key)
	must(t, err)
	for name, s := range map[string]signer{"file": {key, signers}, "variable": {"", signers}} {
		t.Run(name, func(t *testing.T) {
			if t.Setenv(keyVariable, ""); s.keyFile == "" {
				t.Setenv(keyVariable, strings.TrimSpace(string(private))) // as a web form leaves it
			}
			dir, report := delivered(t), new(bytes.Buffer)
			must(t, s.sign(dir, report))
			out, err := verify(t, dir, report.String())
			if err != nil || !strings.Contains(out, `Good "lockscope" signature for release@lockscope`) ||
				!strings.Contains(out, "a.tar.gz: OK\nb.deb: OK\n") {
				t.Fatalf("%v\n%s", err, out)
			}
			must(t, os.Remove(filepath.Join(dir, "a.tar.gz"))) // who wants one file downloads one
			if out, err := verify(t, dir, report.String()); err != nil {
				t.Errorf("without one file: %v\n%s", err, out)
			}
			must(t, os.WriteFile(filepath.Join(dir, "b.deb"), []byte("evil"), 0o644))
			if out, err := verify(t, dir, report.String()); err == nil || !strings.Contains(out, "b.deb: FAILED") {
				t.Errorf("another file: %v\n%s", err, out)
			}
			must(t, writeSums(dir))
			out, err = verify(t, dir, report.String())
			if err == nil || !strings.Contains(out, "incorrect signature") {
				t.Errorf("other checksums: %v\n%s", err, out)
			}
		})
	}
}

// TestSignRefused: nobody could verify a signature by a key that the tree does not name, so none is left behind.
func TestSignRefused(t *testing.T) {
	t.Setenv(keyVariable, "")
	key, _ := newKey(t)
	_, others := newKey(t)
	dir := delivered(t)
	err := signer{key, others}.sign(dir, new(bytes.Buffer))
	if err == nil || !strings.Contains(err.Error(), others) {
		t.Errorf("a key that the signers file does not have: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "SHA256SUMS.sig")); err == nil {
		t.Error("the signature is still there")
	}
	report := new(bytes.Buffer)
	if err := (signer{}).sign(dir, report); err != nil || !strings.Contains(report.String(), "not signed") {
		t.Errorf("without a key: %v, %s", err, report)
	}
}
