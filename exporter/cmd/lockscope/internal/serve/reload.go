package serve

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
)

// lookEvery is how soon a secret that was rotated is read.
const lookEvery = 10 * time.Second

// sweeping has the groups that serve sweeps; a reload replaces them. It is safe for concurrent
// use.
type sweeping struct {
	build func(old config.Groups) (config.Groups, stamps,
		error) // makes the groups anew, and says which files they depend on

	mu    sync.RWMutex // held for writing only while groups are replaced in memory
	now   config.Groups
	files stamps
	last  exporter.Reload
}

// stamp tells whether a file has changed.
type stamp struct {
	modified time.Time
	size     int64
	missing  bool
}

// stamps are those of files, taken before they are read.
type stamps map[string]stamp

func stampsOf(paths []string) stamps {
	all := make(stamps, len(paths))
	for _, path := range paths {
		all[path] = stampOf(path)
	}
	return all
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{missing: true}
	}
	return stamp{info.ModTime(), info.Size(), false}
}

// newSweeping makes the first groups.
func newSweeping(build func(old config.Groups) (config.Groups, stamps, error)) (*sweeping, error) {
	s := &sweeping{build: build}
	all, files, err := build(nil)
	if err != nil {
		return nil, err
	}
	s.now, s.files, s.last = all, files, exporter.Reload{Successful: true, LastSuccess: time.Now()}
	return s, nil
}

func (s *sweeping) groups() config.Groups {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.now
}

// stampsNow are those of the same files.
func (s *sweeping) stampsNow() stamps {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return stampsOf(slices.Collect(maps.Keys(s.files)))
}

// changed says which file of a secret is another one than when it was read, or "".
func (s *sweeping) changed() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for path, old := range s.files {
		if stampOf(path) != old {
			return path
		}
	}
	return ""
}

// reload reads everything again. Groups that would be the same go on as they are; the others are ended before those that
// replace them begin. It calls changed with the new groups. After an error all is as it was; left is what did not
// end or begin as it should.
func (s *sweeping) reload(changed func(config.Groups)) (left, err error) {
	old := s.groups()
	tried := s.stampsNow()
	all, files, err := s.build(old)
	s.mu.Lock()
	s.last.Successful = err == nil
	if err != nil {
		s.files = tried // or the same error would come at every look
		s.mu.Unlock()
		return nil, err
	}
	s.now, s.files, s.last.LastSuccess = all, files, time.Now()
	s.mu.Unlock()
	changed(all) // before the old clients are closed: a ping on one would count as a failure of its node
	var gone config.Groups
	for _, g := range old {
		if !slices.Contains(all, g) {
			gone = append(gone, g)
		}
	}
	return errors.Join(gone.Close(), all.Start()), nil
}

// loop reloads on SIGHUP, and when a file of a secret has changed, which it looks for every
// so often, until ctx ends. It calls changed with new groups.
func (s *sweeping) loop(ctx context.Context, a *ui.App, every time.Duration, changed func(config.Groups)) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	look := time.NewTicker(max(every, time.Second))
	defer look.Stop()
	for {
		why := ""
		select {
		case <-ctx.Done():
			return
		case <-hup:
			why = "SIGHUP"
		case <-look.C:
			if path := s.changed(); path != "" {
				why = path + " changed"
			}
		}
		if why == "" {
			continue
		}
		left, err := s.reload(changed)
		if err != nil {
			a.Logger.ErrorContext(ctx, "reload failed: the old configuration stays in use", "why", why, "error", err)
			continue
		}
		if left != nil {
			a.Logger.WarnContext(ctx, "reload: the old groups did not end cleanly, or new ones did not begin", "why", why, "error", left)
		}
		a.Logger.InfoContext(ctx, "configuration reloaded", "why", why, "servers", s.groups().Servers())
	}
}

// close ends all groups.
func (s *sweeping) close() error { return s.groups().Close() }

// Reload implements exporter.ReloadSource.
func (s *sweeping) Reload() exporter.Reload {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.last
}

// Snapshot implements exporter.Snapshotter.
func (s *sweeping) Snapshot() scanner.Snapshot { return s.groups().Snapshot() }

// List is that of the groups there are now.
func (s *sweeping) List(ctx context.Context, o listing.Options) []part {
	return s.read(func(p *part, of *scanner.Scanner) { p.Listing, _ = of.List(ctx, o) })
}

// Waits is that of the groups there are now.
func (s *sweeping) Waits(ctx context.Context) []part {
	return s.read(func(p *part, of *scanner.Scanner) { p.Waits, p.err = of.Waits(ctx) })
}

func (s *sweeping) read(do func(*part, *scanner.Scanner)) []part {
	all := s.groups()
	parts := make([]part, len(all))
	for i, name := range all.Sets() {
		parts[i].set, parts[i].sources = name, len(all[i].Nodes)
	}
	all.Each(func(i int, g *config.Group) { do(&parts[i], g.Scanner) })
	return parts
}
