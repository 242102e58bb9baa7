// Package boards generates the Grafana dashboards.
//
// Each subject is a package below this one. The overview draws from all of them, and they from package draw, which
// knows Grafana.
package boards

import (
	"fmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/alerts"
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/leaks"
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/nodes"
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/resources"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
)

// File is a dashboard as Grafana imports it.
type File struct {
	Name string
	JSON []byte
}

// Files returns all dashboards.
func Files(c config.Config) ([]File, error) {
	var files []File
	for _, b := range []draw.Board{overviewBoard(c), alerts.Board(c), resources.All(c), resources.One(c), nodes.Board(c),
		leaks.Board(c), adoptionBoard(c)} {
		text, err := b.Render()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.UID, err)
		}
		files = append(files, File{Name: b.UID + ".json", JSON: text})
	}
	return files, nil
}
