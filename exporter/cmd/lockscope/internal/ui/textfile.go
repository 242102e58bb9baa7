package ui

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

const (
	// textfileMode lets node_exporter read the file as another user.
	textfileMode = 0o644
	// leftAfter is the age of a temporary file that nobody is still writing.
	leftAfter = time.Hour
)

// writeTextfile replaces the file by the metrics of g. A reader sees the old file or the new one, never a part; after an
// error the old file stays. It also removes temporary files that processes left beside it which died an hour ago or
// more. It may be called concurrently: the last call wins.
func writeTextfile(path string, g prometheus.Gatherer) error {
	text, err := encodeMetrics(g)
	if err != nil {
		return err
	}
	removeLeft(path)
	return replaceFile(path, text)
}

func encodeMetrics(g prometheus.Gatherer) ([]byte, error) {
	families, err := g.Gather()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// replaceFile writes and syncs a file beside path, whose name node_exporter does not read, and renames that.
func replaceFile(path string, text []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), tempPrefix(path)+"*"+tempSuffix)
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(textfileMode), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

const tempSuffix = ".tmp"

func tempPrefix(path string) string { return "." + filepath.Base(path) + "." }

// leftName is the end of the names that replaceFile gives.
var leftName = regexp.MustCompile(`^[0-9]+\.tmp$`)

// removeLeft removes what processes left that died while they wrote. What it cannot remove does no harm.
func removeLeft(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		end, ours := strings.CutPrefix(e.Name(), tempPrefix(path))
		if !ours || !leftName.MatchString(end) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > leftAfter {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}
