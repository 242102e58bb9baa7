package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/configcmd"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/dashboards"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/discover"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/doctor"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/list"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/program"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/reconfigure"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/repair"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/scan"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/serve"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/vouch"
)

const rootHelp = `lockscope looks after distributed locks in Redis, whoever wrote them.

  lockscope scan         one sweep for leaked locks, for cron: exit 0 clean, 1 findings, 2 error, 3 incomplete
  lockscope serve        sweeps again and again; /metrics, /debug/locks, health checks, alerts
  lockscope list         who holds what now, in PostgreSQL, etcd and ZooKeeper, too
  lockscope repair       lets leaked locks expire, or deletes them: a plan first, then the act
  lockscope doctor       are these servers fit for locks? Of PostgreSQL, etcd and ZooKeeper, too
  lockscope init         vouch for new servers, once, so that they vote at once
  lockscope reconfigure  change the members of a set of servers, or the longest TTL
  lockscope discover     which libraries keep locks here? proposes a configuration
  lockscope config       check the configuration file of scan and serve, or print its schema
  lockscope dashboards   Grafana boards, Prometheus rules and runbooks that match this version

Every flag but --repair, --yes and --min-age can be given as an environment variable: --max-ttl is LOCKSCOPE_MAX_TTL,
--log.level is LOCKSCOPE_LOG_LEVEL. A flag wins over its variable.

Passwords belong in a file (--redis-password-file, --redis-file) or in the variable
LOCKSCOPE_REDIS_PASSWORD rather than on a command line, which others can read; those of
other systems in LOCKSCOPE_POSTGRES_PASSWORD, LOCKSCOPE_ETCD_PASSWORD and
LOCKSCOPE_ZOOKEEPER_AUTH.
They are never printed. Neither are the values of locks, which hold their owners' secrets.

Results go to standard output, everything else to standard error.`

const rootExample = `  lockscope scan --redis redis://10.0.0.1:6379
  lockscope doctor --redis 10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379
  LOCKSCOPE_REDIS=rediss://r1:6379,rediss://r2:6379 lockscope serve --redis-password-file /run/secrets/redis`

func newRoot(p *program.Program) *cobra.Command {
	return p.Root(&cobra.Command{
		Use: "lockscope", Short: "Find, list and explain distributed locks in Redis",
		Long: rootHelp, Example: rootExample, Version: exporter.Version(), Args: noCommand,
	}, scan.Command(p.App), serve.Command(p.App), list.Command(p.App), repair.Command(p.App), doctor.Command(p.App),
		vouch.Command(p.App), reconfigure.Command(p.App),
		discover.Command(p.App), configcmd.Command(p.App), dashboards.Command(p.App), newVersion(p.App))
}

// noCommand names what was probably meant. It repeats nothing that could be a URL
// with a password.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if strings.ContainsAny(args[0], ":@/") {
		return errors.New(
			"a command is needed before arguments: scan, serve, list, repair, doctor, init, reconfigure, " +
				"discover, config or dashboards; see --help")
	}
	meant := ""
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		meant = fmt.Sprintf(": is %s meant?", strings.Join(like, " or "))
	}
	return fmt.Errorf("unknown command %q%s; see --help", args[0], meant)
}

func newVersion(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.Out, "lockscope %s\n", exporter.Version())
			return err
		},
	}
}
