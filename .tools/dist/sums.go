package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	sumsFile    = "SHA256SUMS"
	keyVariable = "LOCKSCOPE_RELEASE_KEY"
	signersFile = ".github/release_signers"
	identity    = "release@lockscope" // how the signers file names the key
	namespace   = "lockscope"         // what a signature is for: one of an e-mail or a commit is refused
)

// writeSums writes the checksums of all files of a folder, as sha256sum does.
func writeSums(dir string) error {
	entries, err := os.ReadDir(dir) // in order of their names
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, sumsFile), sums.Bytes(), 0o644)
}

// signer signs checksums with an SSH key, so that users need nothing but OpenSSH to verify them.
type signer struct {
	keyFile string // if empty, the key is in keyVariable
	signers string // in the format ALLOWED SIGNERS of ssh-keygen(1)
}

// sign signs the checksums in dir, verifies the signature as users will, and prints how. Without a key it says so. It
// fails if the signers file does not have the key.
func (s signer) sign(dir string, report io.Writer) (err error) {
	key := os.Getenv(keyVariable)
	if s.keyFile == "" && key == "" {
		fmt.Fprintf(report, "%s is not signed: there is no key in -key or %s.\n", sumsFile, keyVariable)
		return nil
	}
	if s.keyFile == "" {
		temporary, err := os.MkdirTemp("", "lockscope-key-") // only this user may enter it
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
		s.keyFile = filepath.Join(temporary, "key")
		if err := os.WriteFile(s.keyFile, []byte(strings.TrimRight(key, "\r\n")+"\n"), 0o600); err != nil {
			return err
		}
	}
	sums := filepath.Join(dir, sumsFile)
	sign := exec.Command("ssh-keygen", "-Y", "sign", "-f", s.keyFile, "-n", namespace, sums)
	if out, err := sign.CombinedOutput(); err != nil {
		return fmt.Errorf("ssh-keygen -Y sign: %w\n%s", err, out)
	}
	line := s.verifyLine()
	verify := exec.Command("sh", "-c", line)
	verify.Dir = dir
	if out, err := verify.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("the signature does not verify: %w: does %s name the public key?\n%s", err,
			s.signers, out), os.Remove(sums+".sig"))
	}
	fmt.Fprintf(report, "To verify, in the folder with the files:\n\n%s\n", line)
	return nil
}

// verifyLine is for a shell in the folder of the checksums.
func (s signer) verifyLine() string {
	signers, err := filepath.Abs(s.signers)
	if err != nil {
		signers = s.signers
	}
	return fmt.Sprintf("ssh-keygen -Y verify -f '%s' -I %s -n %s -s %s.sig <%[4]s &&\n"+
		"sha256sum --check --ignore-missing %[4]s", signers, identity, namespace, sumsFile)
}
