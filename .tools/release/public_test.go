package release

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPublicPackagesAreInTheReadme: README links to each package that users may import once, by its folder. A package
// that they should not import is internal or says in its documentation that it is for lockscope's own packages.
func TestPublicPackagesAreInTheReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	must(t, err)
	_, section, found := strings.Cut(string(readme), "\n## Where things are\n")
	if !found {
		t.Fatal("README.md has no section Where things are")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	adapters, err := os.ReadFile(filepath.Join(root, "lock", "contrib", "README.md"))
	must(t, err)
	var listed []string
	for folder, text := range map[string]string{"": section, "lock/contrib": string(adapters)} {
		for _, link := range regexp.MustCompile(`\[([\w/]+)\]\(([\w/]+)\)`).FindAllStringSubmatch(text, -1) {
			p := path.Join(folder, link[2])
			switch {
			case link[1] != link[2], p == "lock/contrib/zklock" && folder != "": // a page, named in words; in README.md
			case slices.Contains(listed, p):
				t.Errorf("%s is listed twice", p)
			default:
				listed = append(listed, p)
			}
		}
	}
	public := publicPackages(t)
	for _, p := range public {
		if !slices.Contains(listed, p) {
			t.Errorf("%s is public, and neither README.md nor that of lock/contrib lists it", p)
		}
	}
	for _, p := range listed {
		if !slices.Contains(public, p) {
			t.Errorf("%s is listed, and is no public package", p)
		}
	}
}

// insider is how a package says that it is not for users.
const insider = "It is for lockscope's own packages"

// publicPackages are below the root of the repository, as users may import them.
func publicPackages(t *testing.T) (folders []string) {
	t.Helper()
	for _, m := range repository(t) {
		for _, p := range packagesOf(t, m) {
			folder := strings.TrimPrefix(p, "github.com/lockscope/lockscope/")
			if !isInsider(t, filepath.Join(root, filepath.FromSlash(folder))) {
				folders = append(folders, folder)
			}
		}
	}
	slices.Sort(folders)
	return folders
}

func isInsider(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	must(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		must(t, err)
		head, _, _ := strings.Cut(string(text), "\npackage ")
		if strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(head, "//", " ")), " "), insider) {
			return true
		}
	}
	return false
}
