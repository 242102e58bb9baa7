package page

import (
	_ "embed"

	"github.com/lockscope/lockscope/exporter/internal/asset"
)

//go:embed assets/page.html
var pageHTML string

//go:embed assets/fleet.html
var fleetHTML string

//go:embed assets/page.css
var pageCSS string

// The script is in parts for people to read; browsers get it as one.
var (
	//go:embed assets/dom.js
	domJS string
	//go:embed assets/links.js
	linksJS string
	//go:embed assets/tables.js
	tablesJS string
	//go:embed assets/constructs.js
	constructsJS string
	//go:embed assets/held.js
	heldJS string
	//go:embed assets/scan.js
	scanJS string
	//go:embed assets/tiles.js
	tilesJS string
	//go:embed assets/past.js
	pastJS string
	//go:embed assets/nodes.js
	nodesJS string
	//go:embed assets/blocked.js
	blockedJS string
	//go:embed assets/banners.js
	bannersJS string
	//go:embed assets/plot.js
	plotJS string
	//go:embed assets/waterfall.js
	waterfallJS string
	//go:embed assets/connection.js
	connectionJS string
	//go:embed assets/main.js
	mainJS string
	//go:embed assets/controls.js
	controlsJS string
	//go:embed assets/fleet.js
	fleetJS string
)

// locksAsset is the page of a process, and fleetAsset that of all processes.
func locksAsset() asset.Asset {
	return asset.New(pageHTML, pageCSS, domJS, asset.Text, linksJS, tablesJS, constructsJS, tilesJS, nodesJS, blockedJS,
		pastJS, heldJS, scanJS, bannersJS, plotJS, waterfallJS, connectionJS, mainJS, controlsJS)
}

func fleetAsset() asset.Asset {
	return asset.New(fleetHTML, pageCSS, domJS, asset.Text, linksJS, tablesJS, constructsJS, bannersJS, connectionJS,
		fleetJS, controlsJS)
}
