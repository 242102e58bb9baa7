package top

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/scanner/listing"
)

// maxHosts is how many hosts are named that no flag allows to read.
const maxHosts = 3

// pages reads the pages that flags name, and those that holders and waiters name where a policy allows it.
type pages struct {
	named     []string
	byFlag    *fleet.Reader
	allowed   *fleet.Reader // nil: none
	task      *task[[]fleet.Page]
	mu        sync.Mutex
	published []string
}

// newPages reads nothing yet. Without a page in flags and with a policy that is off, it only counts pages.
func newPages(named []string, policy fleet.Policy) (*pages, error) {
	p := &pages{named: named}
	var hosts []string
	for _, page := range named {
		u, err := url.Parse(page)
		if err != nil || u.Hostname() == "" || u.User != nil {
			return nil, errBadPage
		}
		hosts = append(hosts, u.Hostname())
	}
	if len(hosts) > 0 {
		only, err := fleet.ParsePolicy(strings.Join(hosts, ","))
		if err != nil {
			return nil, errBadPage
		}
		p.byFlag = fleet.NewReader(only)
	}
	if !policy.Off() {
		p.allowed = fleet.NewReader(policy)
	}
	p.task = newTask(nil, p.read)
	return p, nil
}

// publish takes up the addresses that holders and waiters name.
func (p *pages) publish(sets []fleet.Set) {
	var all []string
	for _, set := range sets {
		for _, page := range fleet.Published(listing.Listing{Waits: set.Waits}) {
			if !slices.Contains(p.named, page) && len(all) < fleet.MaxPages*2 && !slices.Contains(all, page) {
				all = append(all, page)
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.published = all
}

// read reads what is due. Pages that holders and waiters no longer name are forgotten.
func (p *pages) read(ctx context.Context) (all []fleet.Page) {
	p.mu.Lock()
	published := p.published
	p.mu.Unlock()
	var reading sync.WaitGroup
	if p.byFlag != nil {
		reading.Go(func() { p.byFlag.Read(ctx, p.named) })
	}
	if p.allowed != nil {
		reading.Go(func() { p.allowed.Read(ctx, published) })
	}
	reading.Wait()
	for _, reader := range []*fleet.Reader{p.byFlag, p.allowed} {
		if reader != nil {
			some, _ := reader.Pages()
			all = append(all, some...)
		}
	}
	return all
}

// sum adds up what the pages say of all Acquire calls.
func (p *pages) sum(all []fleet.Page) screen.Pages {
	p.mu.Lock()
	published := p.published
	p.mu.Unlock()
	s := screen.Pages{Known: len(p.named) + len(published)}
	for i := range all {
		if all[i].Err != nil || all[i].Read.IsZero() {
			continue
		}
		s.Answered++
		r := all[i].Recent
		if r == nil {
			continue
		}
		if s.Recent == nil {
			s.Recent = &screen.Recent{}
		}
		minute := time.Minute.Seconds()
		s.Recent.Acquired += float64(r.Ended-r.Failed) / minute
		s.Recent.Failed += float64(r.Failed) / minute
		s.Recent.P99 = max(s.Recent.P99, r.P99)
	}
	if p.allowed == nil {
		s.Hosts = hostsOf(published)
	}
	return s
}

func hostsOf(pages []string) (hosts []string) {
	for _, page := range pages {
		u, err := url.Parse(page)
		if err == nil && u.Hostname() != "" && !slices.Contains(hosts, u.Hostname()) && len(hosts) < maxHosts {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

// waitedFor are the resources that pages say somebody waits for.
func waitedFor(pages []fleet.Page) (names []string) {
	for i := range pages {
		for _, c := range pages[i].Counts {
			if c.Waiting > 0 && len(names) < maxSuggest && !slices.Contains(names, c.Resource) {
				names = append(names, c.Resource)
			}
		}
	}
	return names
}
