package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nobody is the user of the image, as in the Dockerfiles of the examples.
const nobody = "65532:65532"

// image writes an OCI archive with an image for each platform of Linux: the binary, the certificates of public
// authorities and licences, nothing else.
func (r *release) image() error {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range r.binaries {
		if b.os != "linux" {
			continue
		}
		image, err := r.imageOf(b)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: b.os, Architecture: b.arch},
		}})
	}
	folder := filepath.Join(r.work, "image")
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	name := map[string]string{"org.opencontainers.image.ref.name": r.number()}
	if err := path.AppendIndex(index, layout.WithAnnotations(name)); err != nil {
		return err
	}
	return r.archiveImage(folder)
}

func (r *release) imageOf(b binary) (v1.Image, error) {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	var layers []v1.Layer
	shared := []file{{"etc/ssl/certs/ca-certificates.crt", authorities(), 0o644}}
	for _, f := range r.files {
		if f.path == licenceFile || f.path == licencesFile {
			shared = append(shared, f)
		}
	}
	for _, files := range [][]file{shared, {{"lockscope", program, 0o755}}} {
		var packed bytes.Buffer
		if err := tarFile(&packed, files, r.when); err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(packed.Bytes())), nil
		}, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, layers...)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, r.imageConfig(b, image))
}

func (r *release) imageConfig(b binary, image v1.Image) *v1.ConfigFile {
	config, err := image.ConfigFile()
	if err != nil {
		config = &v1.ConfigFile{}
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = b.os, b.arch, v1.Time{Time: r.when}
	config.History = nil
	config.Config = v1.Config{
		User: nobody, Entrypoint: []string{"/lockscope"}, ExposedPorts: map[string]struct{}{"17379/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "lockscope",
			"org.opencontainers.image.version":  r.number(),
			"org.opencontainers.image.source":   "https://github.com/lockscope/lockscope",
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return config
}

// authorities are the roots that Go's own fallback has, as the module in go.mod says: those of the machine that builds
// would differ from those of another. Roots that are trusted with conditions are left out, for a file cannot say them.
func authorities() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
		}
	}
	return text.Bytes()
}

// archiveImage packs the layout, uncompressed, for its layers are compressed.
func (r *release) archiveImage(folder string) error {
	var packed []file
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		packed = append(packed, file{filepath.ToSlash(name), text, 0o644})
		return err
	})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := tarFile(&out, packed, r.when); err != nil {
		return err
	}
	return os.WriteFile(r.name("image.oci.tar"), out.Bytes(), 0o644)
}
