package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/doctor"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock"
)

// expected is what lockscope makes of one product.
type expected struct {
	level   diagnosis.Level
	asItIs  error         // why the product, as it is made, refuses a lock; nil if it does not
	options []lock.Option // with which it grants one, once it has noeviction if that can be had
	flags   []string      // of lockscope's commands: the same
	lacks   []string      // beginnings of what doctor says
	never   error         // why it grants none, whatever is stated
	fixed   bool          // its policy cannot be changed
}

// expectations has what lockscope makes of each product. README's table of compatibility says the same.
func expectations() map[string]expected {
	const noRunID, noPolicy = "INFO has no run_id", "INFO has no maxmemory_policy"
	const noConfig, noPersistence = "CONFIG is refused", "INFO has no section Persistence"
	marker, kept := []lock.Option{redlock.WithMarkerIdentity()}, []lock.Option{redlock.WithoutEviction()}
	full := expected{level: diagnosis.LevelFull}
	evicts := expected{level: diagnosis.LevelFull, asItIs: driver.ErrEvicting, lacks: []string{noConfig}}
	dragonfly := expected{level: diagnosis.LevelMarker, asItIs: driver.ErrUnexamined, options: marker,
		flags: []string{"--marker-identity"}, lacks: []string{noPersistence, noRunID}}
	cached := dragonfly
	cached.never = driver.ErrEvicting
	garnet := expected{level: diagnosis.LevelFull, asItIs: driver.ErrUnexamined, options: kept,
		flags: []string{"--without-eviction"}, lacks: []string{noPersistence, noPolicy}}
	mute := garnet
	mute.level, mute.lacks = diagnosis.LevelUnfit, []string{"EVAL is refused", noPersistence, noPolicy}
	mute.never = errors.New("scripting support disabled")
	managed := garnet
	managed.lacks = []string{noPolicy, noConfig}
	serverless := expected{level: diagnosis.LevelWithout, asItIs: driver.ErrUnexamined, fixed: true,
		options: append(marker, redlock.WithEvictingNodes()), flags: []string{"--marker-identity", "--evicting-nodes"},
		lacks: []string{noRunID, noConfig}}
	durable := full
	durable.lacks = []string{noConfig}
	replica := full
	replica.asItIs, replica.never = driver.ErrReplica, driver.ErrReplica
	return map[string]expected{
		"Valkey 8": full, "KeyDB 6.3": full, "KeyDB, active replica": replica,
		"Dragonfly": dragonfly, "Dragonfly, cache mode": cached, "Garnet with --lua": garnet, "Garnet": mute,
		"ElastiCache, node based": evicts, "ElastiCache, cluster mode": evicts, "ElastiCache Serverless": serverless,
		"MemoryDB": durable, "Azure Cache for Redis": evicts, "Azure Managed Redis": managed,
		"Memorystore for Redis": evicts,
	}
}

// TestProfiles takes locks on every product, and examines, scans and discovers it.
func TestProfiles(t *testing.T) {
	t.Parallel()
	all := expectations()
	for _, p := range products() {
		want, known := all[p.Name]
		if !known {
			t.Errorf("nothing is expected of %s", p.Name)
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			n := startProfile(t, p)
			asItIs(t, n, want)
			if !want.fixed {
				n.configure(t, "maxmemory-policy", "noeviction")
			}
			examined(t, n, want)
			locked(t, n, want)
			searched(t, n, want)
		})
	}
}

// asItIs wants the locks refused, or granted, and doctor to say the same.
func asItIs(t *testing.T, n *profileNodes, want expected) {
	t.Helper()
	// Without a quarantine: nobody has vouched for the servers yet.
	l := profileLocker(t, n, redlock.WithRestartQuarantine(0))
	wantGrant(t, l, want.asItIs)
	status := ui.ExitFindings
	if want.asItIs != nil {
		status = ui.ExitError
	}
	command(t, append(cmdtest.Patient(), n.flags()...)...).Want(t, status)
	for _, s := range n.behind {
		// They are new again, for init.
		cmdtest.Must(t, cmdtest.Admin(t, s).FlushAll(t.Context()).Err())
		cmdtest.Must(t, cmdtest.Admin(t, s).ConfigResetStat(t.Context()).Err())
	}
}

// examined wants doctor's level, and every thing that the product lacks, and the options stated as accepted.
func examined(t *testing.T, n *profileNodes, want expected) {
	t.Helper()
	o := command(t, slices.Concat(cmdtest.Patient("-o", "json"), n.flags(), want.flags)...)
	status := ui.ExitFindings
	if want.never != nil {
		status = ui.ExitError
	}
	o.Want(t, status)
	var r doctor.Report
	o.Decode(t, &r)
	for _, node := range r.Nodes {
		var lacks []string
		for _, m := range node.Missing {
			lacks = append(lacks, m.What+": "+m.Lost)
		}
		if node.Guard != want.level || !slices.EqualFunc(lacks, want.lacks, strings.HasPrefix) {
			t.Errorf("%s: %s, lacks %q; want %s, %q", node.Node, node.Guard, lacks, want.level, want.lacks)
		}
	}
}

// locked wants a lock, by the library and by a command, with the options and after a vouch.
func locked(t *testing.T, n *profileNodes, want expected) {
	t.Helper()
	if !n.cluster && want.never == nil {
		vouch := slices.Concat([]string{"init"}, n.flags(), want.flags)
		command(t, append(vouch, "-o", "json")...).Want(t, ui.ExitClean, `"vouched"`)
		command(t, vouch...).Want(t, ui.ExitClean, "already vouched")
	}
	wantGrant(t, profileLocker(t, n, want.options...), want.never)
	if want.never == nil {
		hold := []string{"hold", "job", "--for", "100ms", "--reason", "test", "--operator", "me", "--node-timeout", "2s",
			"--audit-log", filepath.Join(t.TempDir(), "audit")}
		command(t, slices.Concat(hold, n.flags(), want.flags)...).Want(t, ui.ExitClean, "is released")
	}
}

// searched wants the leak found, by a scan that proves what it has read, and by discover.
func searched(t *testing.T, n *profileNodes, want expected) {
	t.Helper()
	key := n.plant(t)
	command(t, append(cmdtest.Quick(), n.flags()...)...).Want(t, ui.ExitFindings, key, "no_ttl")
	if n.cluster {
		command(t, "discover", "--cluster", "--redis", n.addrs[0], "--pause", "0s").Want(t, ui.ExitClean, "lock:*")
		return
	}
	command(t, "discover", "--redis", n.addrs[0], "--pause", "0s").Want(t, ui.ExitClean, "lock:*")
}

// TestCompatibilityTable: README says of every product what TestProfiles sees, and of no other that it has a profile.
func TestCompatibilityTable(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../../lock/redlock/README.md")
	cmdtest.Must(t, err)
	all := expectations()
	for line := range strings.Lines(string(readme)) {
		cells := strings.Split(line, " | ")
		if len(cells) < 4 || !strings.HasSuffix(cells[1], "a profile") {
			continue
		}
		name := strings.TrimPrefix(cells[0], "| ")
		want, known := all[name]
		delete(all, name)
		level := string(want.level)
		if want.never != nil && want.level != diagnosis.LevelUnfit {
			level = "refused"
		}
		if !known || cells[2] != level {
			t.Errorf("README says %q of %q; want %q", cells[2], name, level)
		}
		for _, flag := range want.flags {
			if option := optionOf(flag); want.never == nil && !strings.Contains(cells[3], option) {
				t.Errorf("README has no %s for %s: %s", option, name, cells[3])
			}
		}
	}
	for name := range all {
		t.Errorf("README does not have %s", name)
	}
}

// optionOf is the option of package redlock that a flag stands for.
func optionOf(flag string) string {
	return map[string]string{"--marker-identity": "WithMarkerIdentity", "--without-eviction": "WithoutEviction",
		"--evicting-nodes": "WithEvictingNodes"}[flag]
}

func profileLocker(t *testing.T, n *profileNodes, opts ...lock.Option) lock.Locker {
	t.Helper()
	common := []lock.Option{lock.WithNodeTimeout(10 * time.Second)} // for a busy machine: every server answers
	if !n.cluster {
		common = append(common, lock.WithNodeNames(n.addrs...))
	}
	l, err := redlock.New(n.clients(t), append(common, opts...)...)
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, l.Close()) })
	return l
}

// wantGrant wants a lock, or the reason why there is none.
func wantGrant(t *testing.T, l lock.Locker, want error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	lease, err := l.Acquire(ctx, "job", lock.NoWait(), lock.TTL(time.Minute))
	switch {
	case err == nil && want != nil:
		t.Errorf("a lock is granted; want %v", want)
	case err != nil && !matches(err, want):
		t.Errorf("no lock: %v; want %v", err, want)
	case err == nil && lease.Fence() == 0:
		t.Error("the lease has no fence")
	}
	if err == nil {
		cmdtest.Must(t, lease.Release(ctx))
	}
}

func matches(err, want error) bool {
	return want != nil && (errors.Is(err, want) || strings.Contains(fmt.Sprint(err), want.Error()))
}
