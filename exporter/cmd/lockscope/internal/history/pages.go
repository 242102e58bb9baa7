package history

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/sweep"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/systems"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/target"
	"github.com/lockscope/lockscope/scanner"
)

// locksRead is how many locks are read to find pages.
const locksRead = 10_000

// errBadPage does not repeat the address, which may hold a password.
var errBadPage = errors.New("--page: use host:port or http://host:port/debug/locks, without a user or password")

// pageAddresses completes what an operator types.
func pageAddresses(named []string) (pages []string, err error) {
	for _, text := range named {
		if !strings.Contains(text, "://") {
			text = "http://" + text
		}
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			return nil, errBadPage
		}
		if strings.Trim(u.Path, "/") == "" {
			u.Path = "/debug/locks"
		}
		u.RawQuery, u.Fragment = "", ""
		pages = append(pages, strings.TrimSuffix(u.String(), "/"))
	}
	return pages, nil
}

// find returns the pages that holders and waiters on the servers name, and whether any server was asked. Without
// servers it does nothing, unless something must be asked.
func (f *historyFlags) find(ctx context.Context, a *app.App, must bool) (pages []string, asked bool, err error) {
	others, err := f.backends.Open(a, &f.redis, f.prefixes)
	if err != nil {
		return nil, false, err
	}
	defer systems.CloseAll(others)
	ctx, cancel := context.WithTimeout(ctx, f.deadline)
	defer cancel()
	var errs []error
	if f.redis.Named() || must && len(others) == 0 {
		found, err := f.onRedis(ctx, a)
		pages, asked, errs = append(pages, found...), true, append(errs, err)
	}
	for _, b := range others {
		locks, waits, err := backend.Read(ctx, b)
		pages = append(pages, fleet.Published(scanner.Listing{Locks: locks, Waits: waits})...)
		asked, errs = true, append(errs, err)
	}
	err = errors.Join(errs...)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w (raise --deadline)", err)
	}
	return pages, asked, err
}

func (f *historyFlags) onRedis(ctx context.Context, a *app.App) ([]string, error) {
	nodes, err := f.redis.Open(a)
	if errors.Is(err, target.ErrNoServers) {
		return nil, errWhichPages
	}
	if err != nil {
		return nil, err
	}
	defer target.Release(nodes)
	globs, err := sweep.KeyGlobs(f.prefixes, nil)
	if err != nil {
		return nil, err
	}
	s, err := scanner.New(target.Clients(nodes), scanner.WithNodeNames(target.Names(nodes)...),
		scanner.WithPatterns(globs...), scanner.WithConfirmAfter(0))
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	listing, err := s.List(ctx, scanner.ListOptions{Limit: locksRead, Waits: true})
	return fleet.Published(listing), err
}
