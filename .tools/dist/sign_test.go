package dist

import (
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
	must(t, os.WriteFile(signers, []byte("release@lockscope "+read(t, "", key+".pub")), 0o644))
	return key, signers
}

// delivered is a folder with two files and their checksums.
func delivered(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.tar.gz"), []byte("a"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "b.deb"), []byte("b"), 0o644))
	sums(t, dir)
	return dir
}

func sums(t *testing.T, dir string) {
	t.Helper()
	output(t, dir, "sh", "-c", "sha256sum [ab].* >SHA256SUMS")
}

// sign runs sign.sh with a key from a file or the variable.
func sign(t *testing.T, dir, keyFile, key, signers string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "sign.sh", dir)
	cmd.Env = append(os.Environ(), "LOCKSCOPE_RELEASE_KEY_FILE="+keyFile, "LOCKSCOPE_RELEASE_KEY="+key, "LOCKSCOPE_RELEASE_SIGNERS="+signers)
	out, err := cmd.CombinedOutput()
	return string(out), err
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

// TestSign signs with a throwaway key. The printed command accepts these files and refuses others.
func TestSign(t *testing.T) {
	key, signers := newKey(t)
	for name, keys := range map[string][2]string{"file": {key, ""}, "variable": {"", strings.TrimSpace(read(t, "", key))}} {
		t.Run(name, func(t *testing.T) {
			dir := delivered(t)
			report, err := sign(t, dir, keys[0], keys[1], signers)
			if err != nil {
				t.Fatalf("%v\n%s", err, report)
			}
			out, err := verify(t, dir, report)
			if err != nil || !strings.Contains(out, `Good "lockscope" signature for release@lockscope`) ||
				!strings.Contains(out, "a.tar.gz: OK\nb.deb: OK\n") {
				t.Fatalf("%v\n%s", err, out)
			}
			must(t, os.Remove(filepath.Join(dir, "a.tar.gz"))) // who wants one file downloads one
			if out, err := verify(t, dir, report); err != nil {
				t.Errorf("without one file: %v\n%s", err, out)
			}
			must(t, os.WriteFile(filepath.Join(dir, "b.deb"), []byte("evil"), 0o644))
			if out, err := verify(t, dir, report); err == nil || !strings.Contains(out, "b.deb: FAILED") {
				t.Errorf("another file: %v\n%s", err, out)
			}
			sums(t, dir)
			out, err = verify(t, dir, report)
			if err == nil || !strings.Contains(out, "incorrect signature") {
				t.Errorf("other checksums: %v\n%s", err, out)
			}
		})
	}
}

// TestSignRefused: nobody could verify a signature by a key that the tree does not name, so none is left behind.
func TestSignRefused(t *testing.T) {
	key, _ := newKey(t)
	_, others := newKey(t)
	dir := delivered(t)
	if out, err := sign(t, dir, key, "", others); err == nil || !strings.Contains(out, "does "+others+" name the public key?") {
		t.Errorf("a key that the signers file does not have: %v, %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "SHA256SUMS.sig")); err == nil {
		t.Error("the signature is still there")
	}
	if out, err := sign(t, dir, "", "", others); err != nil || !strings.Contains(out, "not signed") {
		t.Errorf("without a key: %v, %s", err, out)
	}
}
