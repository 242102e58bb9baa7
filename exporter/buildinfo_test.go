package exporter

import (
	"runtime/debug"
	"testing"
)

// TestModuleVersion: what a program says that was installed, built in a checkout, or made by somebody else.
func TestModuleVersion(t *testing.T) {
	const commit = "v0.0.0-20261126122410-c761e731a1b2+dirty"
	module := func(path, version string) debug.Module { return debug.Module{Path: path, Version: version} }
	for name, c := range map[string]struct {
		main, dep debug.Module
		want      string
	}{
		"go install of a version": {module(modulePath+"/exporter", "v0.1.0"), module(modulePath, "v0.1.0"), "v0.1.0"},
		"a checkout":              {module(modulePath+"/exporter", commit), module(modulePath, devel), commit},
		"a checkout without git":  {module(modulePath+"/exporter", devel), module(modulePath, devel), devel},
		"the root module":         {module(modulePath, "v0.2.0"), debug.Module{}, "v0.2.0"},
		"a user's program":        {module("example.com/shop", "v9.9.9"), module(modulePath, "v0.1.0"), "v0.1.0"},
		"a user's workspace":      {module("example.com/shop", "v9.9.9"), module(modulePath, devel), devel},
		"a name that begins so":   {module(modulePath+"2", "v9.9.9"), debug.Module{}, devel},
	} {
		if got := moduleVersion(&debug.BuildInfo{Main: c.main, Deps: []*debug.Module{&c.dep}}); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
