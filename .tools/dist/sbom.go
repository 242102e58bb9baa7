package main

import (
	"errors"
	"os"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/generate/bin"
	"github.com/rs/zerolog"
)

// materials writes a bill of materials in CycloneDX for each binary: the modules that it says it was built from, with
// their sums. It has neither a serial number nor a time, which would differ between two builds.
func (r *release) materials() error {
	for _, b := range r.binaries {
		generator, err := bin.NewGenerator(b.path, bin.WithIncludeStdlib(true), bin.WithLogger(zerolog.Nop()))
		if err != nil {
			return err
		}
		bom, err := generator.Generate()
		if err != nil {
			return err
		}
		if err := writeMaterials(r.name(b.platform()+".cdx.json"), bom); err != nil {
			return err
		}
	}
	return nil
}

func writeMaterials(name string, bom *cyclonedx.BOM) (err error) {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}
