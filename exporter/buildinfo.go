package exporter

import (
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/version"
)

const modulePath = "github.com/lockscope/lockscope"

// Version returns the version of lockscope in this program: the one that the linker set in
// github.com/prometheus/common/version, else the one in the module's build information, else "(devel)".
func Version() string {
	if version.Version != "" {
		return version.Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	return moduleVersion(info)
}

func moduleVersion(info *debug.BuildInfo) string {
	if info.Main.Path == modulePath && info.Main.Version != "" {
		return info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == modulePath && dep.Version != "" {
			return dep.Version
		}
	}
	return "(devel)"
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
