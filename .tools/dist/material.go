package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// describe lets the binary of this machine write its manual pages and completions. Each archive and package has them.
func (r *release) describe() error {
	own := ""
	for _, b := range r.binaries {
		if b.os == runtime.GOOS && b.arch == runtime.GOARCH {
			own = b.path
		}
	}
	if own == "" {
		return fmt.Errorf("the platforms lack %s/%s, whose binary writes the manual pages", runtime.GOOS,
			runtime.GOARCH)
	}
	licence, err := os.ReadFile(filepath.Join(r.root, licenceFile))
	if err != nil {
		return err
	}
	others, err := r.licencesOfOthers()
	if err != nil {
		return err
	}
	r.files = append(r.files, file{licenceFile, licence, 0o644}, file{licencesFile, others, 0o644})
	pages := filepath.Join(r.work, "man")
	if err := exec.Command(own, "man", "--dir", pages).Run(); err != nil {
		return fmt.Errorf("lockscope man: %w", err)
	}
	entries, err := os.ReadDir(pages)
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(pages, e.Name()))
		if err != nil {
			return err
		}
		r.files = append(r.files, file{"man/" + e.Name(), text, 0o644})
	}
	for shell, name := range completions {
		script, err := exec.Command(own, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("lockscope completion %s: %w", shell, err)
		}
		r.files = append(r.files, file{"completion/" + name, script, 0o644})
	}
	return nil
}

// licenceFile is ours. licencesFile has the licences of what is linked into the binary: most ask for their text beside
// every copy.
const licenceFile, licencesFile = "LICENSE", "THIRD_PARTY_LICENCES"

func (r *release) licencesOfOthers() ([]byte, error) {
	var out, problem bytes.Buffer
	cmd := exec.Command("bash", filepath.Join(r.root, ".tools", "audit", "licences.sh"), "texts")
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("licences of dependencies: %w\n%s", err, problem.Bytes())
	}
	return out.Bytes(), nil
}

// completions are the names that each shell looks for.
var completions = map[string]string{"bash": "lockscope", "zsh": "_lockscope", "fish": "lockscope.fish"}

const documents = "/usr/share/doc/lockscope/"

// unitFolder has the units for hosts that are set up by hand. Packages have the binary elsewhere.
const unitFolder = "examples/cron/systemd"

// packaged is what a package for Linux has beside the binary, by its path on the host.
func (r *release) packaged(format string) ([]file, error) {
	zsh := "/usr/share/zsh/vendor-completions/" // Debian's own; others have one folder
	if format == "rpm" {
		zsh = "/usr/share/zsh/site-functions/"
	}
	var files []file
	for _, f := range r.files {
		folder, name := filepath.Split(f.path)
		switch {
		case folder == "man/":
			text, err := zipped(f.text)
			if err != nil {
				return nil, err
			}
			path := "/usr/share/man/man" + strings.TrimPrefix(filepath.Ext(name), ".") + "/" + name + ".gz"
			files = append(files, file{path, text, 0o644})
		case name == completions["bash"]:
			files = append(files, file{"/usr/share/bash-completion/completions/" + name, f.text, 0o644})
		case name == completions["zsh"]:
			files = append(files, file{zsh + name, f.text, 0o644})
		case name == completions["fish"]:
			files = append(files, file{"/usr/share/fish/vendor_completions.d/" + name, f.text, 0o644})
		case name == licenceFile:
			files = append(files, file{documents + "copyright", f.text, 0o644})
		case name == licencesFile:
			files = append(files, file{documents + name, f.text, 0o644})
		}
	}
	units, err := r.units()
	return append(files, units...), err
}

func (r *release) units() (files []file, err error) {
	for _, name := range []string{"lockscope-scan.service", "lockscope-scan.timer", "lockscope-serve.service"} {
		text, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(unitFolder), name))
		if err != nil {
			return nil, err
		}
		text = bytes.ReplaceAll(text, []byte("/usr/local/bin/"), []byte("/usr/bin/"))
		files = append(files, file{"/usr/lib/systemd/system/" + name, text, 0o644})
	}
	settings, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(unitFolder), "lockscope.env"))
	return append(files, file{settingsFile, settings, 0o644}), err
}

const settingsFile = "/etc/lockscope/lockscope.env"

func zipped(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}
