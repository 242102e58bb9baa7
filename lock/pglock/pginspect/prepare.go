package pginspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/pglock"
)

// Schema is the name of the schema.
func (b *Inspector) Schema() string { return b.schema }

// Prepare creates or upgrades the schema, and lets roles take locks. It may be called again, and by several processes
// at the same time. If it fails at a role, which the error names, the schema is ready and the roles before it are granted.
func (b *Inspector) Prepare(ctx context.Context, roles []string) (pglock.Migration, error) {
	m, err := pglock.Upgrade(ctx, b.pool, b.schema)
	if err != nil {
		return m, b.explainPrepare(err)
	}
	for _, role := range roles {
		if err := pglock.Grant(ctx, b.pool, b.schema, role); err != nil {
			return m, b.explainPrepare(fmt.Errorf("role %q: %w", role, err))
		}
	}
	return m, nil
}

// explainPrepare has other remedies than explain: here the role lacks the rights of an owner.
func (b *Inspector) explainPrepare(err error) error {
	var refused *pgconn.PgError
	remedy := b.advice(err)
	if errors.As(err, &refused) && remedy == "" {
		switch refused.Code {
		case "42501":
			remedy = "use the owner of schema " + b.schema + " in --postgres, or a role with CREATE on the database"
		case "42704":
			remedy = "create the role first, or correct --grant"
		case "25006":
			remedy = "give the primary, and a role without default_transaction_read_only"
		}
	}
	if remedy == "" {
		return inspect.Explain(b, err, nil)
	}
	return fmt.Errorf("%s %s: %w: %s", b.System(), b.address, inspect.OneLine(err), remedy)
}

// initCommand is what prepares a schema for a role: an upgrade may add functions, which need a grant of their own.
func initCommand(schema, role string) string {
	command := "lockscope init --postgres URL"
	if schema != pglock.DefaultSchema {
		command += " --schema " + schema
	}
	return `"` + command + " --grant " + role + `"`
}
