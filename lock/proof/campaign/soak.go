//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/judge"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/report"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/viewers"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/vitals"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// soak is what a campaign does beside, if it is one: it keeps all views open, and looks at every process.
type soak struct {
	campaign *campaign
	viewers  *viewers.Viewers
	sampler  vitals.Sampler
}

const (
	soakFaults = 30 * time.Second
	// A run has a hundred samples of each process, but no more than two a second and no less than one a minute.
	soakSamples              = 100
	mostOften, mostSeldom    = time.Second / 2, time.Minute
	workersGroup, nodesGroup = "client processes", "redis-server"
)

func startSoak(ctx context.Context, c *campaign) (*soak, error) {
	s := &soak{campaign: c}
	var redis []string
	for _, n := range c.site.Nodes {
		redis = append(redis, n.Server.Addr())
	}
	var err error
	if s.viewers, err = viewers.Open(ctx, c.lockscope, c.dir, redis, s.pages); err != nil {
		return nil, err
	}
	s.sampler.Targets = s.targets
	s.sampler.Every = min(max(c.length/soakSamples, mostOften), mostSeldom)
	return s, nil
}

func (s *soak) pages() (all []string) {
	for _, w := range s.campaign.site.Crew.Running() {
		all = append(all, w.Address)
	}
	return all
}

func (s *soak) targets() []vitals.Target {
	all := s.viewers.Targets()
	for _, w := range s.campaign.site.Crew.Running() {
		all = append(all, vitals.Target{
			Group: workersGroup, Name: w.Name, PID: w.PID(), Metrics: "http://" + w.Address + "/metrics",
		})
	}
	for _, n := range s.campaign.site.Nodes {
		all = append(all, vitals.Target{
			Group: nodesGroup, Name: n.Name, PID: n.Server.PID(),
			More: func(ctx context.Context) (map[vitals.Quantity]float64, error) {
				info, err := n.Info(ctx, "memory")
				return map[vitals.Quantity]float64{vitals.Used: float64(redisinfo.Parse(info).Number("used_memory"))}, err
			},
		})
	}
	return all
}

// watch returns when ctx has ended.
func (s *soak) watch(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { s.viewers.Watch(ctx) })
	all.Go(func() { s.sampler.Run(ctx) })
	all.Wait()
}

// end judges what the processes used, before the views are closed.
func (s *soak) end() (*report.Soak, []judge.Anomaly, error) {
	judged := vitals.Judge(s.sampler.Samples())
	var found []judge.Anomaly
	at := time.Duration(history.Now() - s.campaign.evidence.Began)
	for _, t := range judged.Grown() {
		found = append(found, judge.Anomaly{Judge: judge.Flatness, At: at, Text: t.String()})
	}
	for _, text := range s.viewers.Failed() {
		found = append(found, judge.Anomaly{Judge: judge.Views, At: at, Text: text})
	}
	if err := s.viewers.Close(); err != nil {
		found = append(found, judge.Anomaly{Judge: judge.Views, At: at, Text: err.Error()})
	}
	err := writeLines(filepath.Join(s.campaign.dir, "vitals.jsonl"), s.sampler.Samples())
	if err != nil {
		err = fmt.Errorf("end of the soak: %w", err)
	}
	return &report.Soak{Judged: judged, Samples: s.sampler.Samples(), Every: s.sampler.Every, Seen: s.viewers.Seen(),
		Scrapes: s.sampler.Scrapes, ScrapeBytes: s.sampler.ScrapeBytes, FailedScrapes: s.sampler.FailedScrapes}, found, err
}
