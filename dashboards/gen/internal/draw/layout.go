package draw

import (
	"fmt"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// Row is a title with panels below it, which fill 24 columns per line. Without a title it is only its panels.
type Row struct {
	Title  string
	Panels []Panel
	folded bool // closed until the reader opens it
}

// Folded is a row that is closed until the reader opens it.
func Folded(title string, panels []Panel) Row { return Row{Title: title, Panels: panels, folded: true} }

// layout stacks the rows. Grafana expects the panels of a folded row inside the row, and makes room for them
// when it opens.
func layout(rows []Row, fill filler) (all []dashboard.PanelOrRowPanel, err error) {
	y, id := uint32(0), uint32(0)
	for _, r := range rows {
		if r.Title == "" {
			if all, y, err = r.untitled(all, y, &id, fill); err != nil {
				return nil, err
			}
			continue
		}
		id++
		title := dashboard.NewRowPanel()
		title.Title, title.Id, title.Collapsed = &r.Title, id, r.folded
		title.GridPos = &dashboard.GridPos{Y: y, W: Full, H: 1}
		y++
		below, bottom, err := r.place(y, &id, fill)
		if err != nil {
			return nil, err
		}
		if r.folded {
			title.Panels = below
			all = append(all, dashboard.PanelOrRowPanel{RowPanel: title})
			continue
		}
		all, y = append(all, dashboard.PanelOrRowPanel{RowPanel: title}), bottom
		for _, p := range below {
			all = append(all, dashboard.PanelOrRowPanel{Panel: &p})
		}
	}
	return all, nil
}

// untitled adds the panels of a row without a title.
func (r Row) untitled(all []dashboard.PanelOrRowPanel, y uint32, id *uint32, fill filler) (
	[]dashboard.PanelOrRowPanel, uint32, error) {
	below, bottom, err := r.place(y, id, fill)
	for _, p := range below {
		all = append(all, dashboard.PanelOrRowPanel{Panel: &p})
	}
	return all, bottom, err
}

// place puts the panels of a row side by side, starting at line y.
func (r Row) place(y uint32, id *uint32, fill filler) (below []dashboard.Panel, bottom uint32, err error) {
	var x, height uint32
	for _, p := range r.Panels {
		if x+p.Width > Full {
			x, y, height = 0, y+height, 0
		}
		p.fill = fill
		made, err := p.build()
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", p.Title, err)
		}
		*id++
		number := *id // links to a single panel use it
		made.Id = &number
		made.GridPos = &dashboard.GridPos{X: x, Y: y, W: p.Width, H: p.Height}
		below = append(below, made)
		x, height = x+p.Width, max(height, p.Height)
	}
	return below, y + height, nil
}
