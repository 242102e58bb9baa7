package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/pglock"
)

// The results for a schema.
const (
	Created  Result = "created"
	Upgraded Result = "upgraded"
)

// schemaReport is the JSON form of what was done to a schema.
type schemaReport struct {
	Schema   int      `json:"schema"`
	Status   Result   `json:"status"`
	Server   string   `json:"server"`
	Database string   `json:"database_schema"`
	From     int      `json:"version_before"`
	To       int      `json:"version"`
	Granted  []string `json:"granted"`
}

// errBoth and errNoPostgres refuse flags that would have no effect.
var (
	errBoth = errors.New("--redis and --postgres both name servers: run init for each system")

	errNoPostgres = errors.New("--grant and --schema need --postgres")
)

// ofRedis are flags that mean nothing for a schema.
var ofRedis = []string{
	"cluster", "sentinel-master", "node-names", "max-ttl", "if-new", "new", "restarted", "run-id",
	"quarantine",
}

// checkSystem refuses flags of the other system.
func (f *initFlags) checkSystem(set *pflag.FlagSet) error {
	switch {
	case !f.servers.Others.PostgresNamed() && (set.Changed("grant") || set.Changed("schema")):
		return errNoPostgres
	case !f.servers.Others.PostgresNamed():
		return nil
	case f.servers.Redis.Named():
		return errBoth
	}
	for _, name := range ofRedis {
		if set.Changed(name) {
			return fmt.Errorf("--%s is for Redis: leave it out with --postgres", name)
		}
	}
	return nil
}

// prepare creates or upgrades the schema of --postgres.
func (f *initFlags) prepare(ctx context.Context, a *ui.App) error {
	b, err := f.servers.OpenPostgres(a)
	if err != nil {
		return err
	}
	defer b.Close()
	m, err := b.Prepare(ctx, f.grant.Values())
	if ctx.Err() != nil {
		return ui.ErrInterrupted
	}
	if err != nil {
		return err
	}
	r := schemaReport{
		Schema: ui.SchemaVersion, Status: resultOf(m), Server: b.Address(), Database: b.Schema(), From: m.From,
		To: m.To, Granted: append([]string{}, f.grant.Values()...),
	}
	if f.output == ui.JSON {
		return ui.WriteJSON(a.Out, r)
	}
	_, err = fmt.Fprintln(a.Out, r.text())
	return err
}

func resultOf(m pglock.Migration) Result {
	switch {
	case m.From == 0:
		return Created
	case m.From < m.To || m.Functions:
		return Upgraded
	}
	return Already
}

func (r schemaReport) text() string {
	text := fmt.Sprintf("schema %s on %s: ", r.Database, r.Server)
	switch {
	case r.Status == Created:
		text += fmt.Sprintf("created, version %d", r.To)
	case r.From < r.To:
		text += fmt.Sprintf("upgraded from version %d to %d", r.From, r.To)
	case r.Status == Upgraded:
		text += fmt.Sprintf("version %d already, its functions and rights are upgraded", r.To)
	default:
		text += fmt.Sprintf("version %d already, nothing to do", r.To)
	}
	if len(r.Granted) > 0 {
		text += "\nmay take locks: " + strings.Join(r.Granted, ", ")
	}
	return text
}
