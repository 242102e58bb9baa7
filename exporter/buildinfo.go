package exporter

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/version"
)

const modulePath = "github.com/lockscope/lockscope"

// Version returns the version of lockscope in this program: the one that the linker set in
// github.com/prometheus/common/version, else the one in the build information. A program of a checkout has the
// pseudo-version of its commit, with +dirty if files were changed, or "(devel)" if it was built without git.
func Version() string {
	if version.Version != "" {
		return version.Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return devel
	}
	return moduleVersion(info)
}

const devel = "(devel)"

func moduleVersion(info *debug.BuildInfo) string {
	for _, dep := range info.Deps {
		if dep.Path == modulePath && dep.Version != "" && dep.Version != devel {
			return dep.Version
		}
	}
	if own := strings.HasPrefix(info.Main.Path+"/", modulePath+"/"); own && info.Main.Version != "" {
		return info.Main.Version
	}
	return devel
}

func newBuildInfo() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "distributed_lock_exporter_build_info",
		Help: "Build information of lockscope, in labels; always 1.",
		ConstLabels: prometheus.Labels{
			"version": Version(), "revision": version.GetRevision(),
			"goversion": runtime.Version(), "goos": runtime.GOOS, "goarch": runtime.GOARCH,
		},
	}, func() float64 { return 1 })
}
