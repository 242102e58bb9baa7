package exporter

import (
	"fmt"
	"net/http"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	defaultProfile = 10 * time.Second
	maxProfile     = 25 * time.Second // below writeTimeout
)

// mountPprof serves profiles without package net/http/pprof, whose mere import
// opens them to everybody on http.DefaultServeMux.
func mountPprof(mux *http.ServeMux) {
	mux.HandleFunc("/debug/pprof/{$}", pprofIndex)
	mux.HandleFunc("/debug/pprof/profile", pprofCPU)
	mux.HandleFunc("/debug/pprof/trace", pprofTrace)
	mux.HandleFunc("/debug/pprof/{name}", pprofNamed)
}

func pprofIndex(w http.ResponseWriter, _ *http.Request) {
	var names []string
	for _, p := range pprof.Profiles() {
		names = append(names, p.Name()+"\n")
	}
	slices.Sort(names)
	plain(w, http.StatusOK, strings.Join(names, "")+"profile?seconds=10\ntrace?seconds=1\n")
}

func pprofNamed(w http.ResponseWriter, r *http.Request) {
	p := pprof.Lookup(r.PathValue("name"))
	if p == nil {
		http.NotFound(w, r)
		return
	}
	debug, _ := strconv.Atoi(r.FormValue("debug"))
	if debug > 0 {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
	} else {
		attachment(w, p.Name())
	}
	_ = p.WriteTo(w, debug) // the client has gone: nobody to tell
}

func pprofCPU(w http.ResponseWriter, r *http.Request) {
	attachment(w, "profile")
	if err := pprof.StartCPUProfile(w); err != nil {
		failProfile(w, err)
		return
	}
	pause(r)
	pprof.StopCPUProfile()
}

func pprofTrace(w http.ResponseWriter, r *http.Request) {
	attachment(w, "trace")
	if err := trace.Start(w); err != nil {
		failProfile(w, err)
		return
	}
	pause(r)
	trace.Stop()
}

// failProfile answers while nothing is written yet: somebody else is profiling.
func failProfile(w http.ResponseWriter, err error) {
	w.Header().Del("Content-Disposition")
	plain(w, http.StatusConflict, err.Error()+"\n")
}

func attachment(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename=%q`, name))
}

// pause waits for as many seconds as were asked for, or until the client goes.
func pause(r *http.Request) {
	d := defaultProfile
	if s, err := strconv.ParseFloat(r.FormValue("seconds"), 64); err == nil && s > 0 {
		d = min(time.Duration(s*float64(time.Second)), maxProfile)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	}
}
