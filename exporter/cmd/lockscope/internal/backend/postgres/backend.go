package postgres

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/pglock"
)

// Backend is a schema of package pglock.
type Backend struct {
	pool     *pgxpool.Pool
	dialled  *connections
	schema   string
	address  string
	prefixes []string
}

// New connects to nothing.
func New(c *backend.Config) (*Backend, error) {
	config, err := pgxpool.ParseConfig(c.Postgres)
	if err != nil {
		return nil, backend.ErrBadPostgres // pgx takes passwords out as far as it understands the text
	}
	if c.PostgresPassword != "" {
		config.ConnConfig.Password = c.PostgresPassword
	}
	if err := secure(config.ConnConfig, c.TLS); err != nil {
		return nil, err
	}
	config.ConnConfig.ConnectTimeout = backend.DialTimeout
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler may keep no session
	config.MaxConns, config.MinConns, config.MinIdleConns = 1, 0, 0
	config.ConnConfig.RuntimeParams["application_name"] = "lockscope"
	dialled := &connections{dial: config.ConnConfig.DialFunc}
	config.ConnConfig.DialFunc = dialled.open
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, backend.ErrBadPostgres
	}
	b := &Backend{
		pool: pool, dialled: dialled, schema: cmp.Or(c.Schema, pglock.DefaultSchema), address: addressOf(config.ConnConfig),
		prefixes: slices.Clone(c.Prefixes),
	}
	if len(b.prefixes) == 0 {
		b.prefixes = []string{lock.DefaultPrefix}
	}
	slices.SortFunc(b.prefixes, func(a, b string) int { return len(b) - len(a) })
	return b, nil
}

func addressOf(c *pgx.ConnConfig) string {
	hosts := []string{net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))}
	for _, f := range c.Fallbacks {
		hosts = append(hosts, net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))))
	}
	return strings.Join(slices.Compact(hosts), ",") // there is a fallback without TLS, too
}

// Database is the database that a connection string names, as pgx reads it; "" if it cannot.
func Database(text string) string {
	c, err := pgxpool.ParseConfig(text)
	if err != nil {
		return ""
	}
	return cmp.Or(c.ConnConfig.Database, c.ConnConfig.User)
}

// System implements inspect.Inspector.
func (*Backend) System() string { return "postgresql" }

// Address implements inspect.Inspector.
func (b *Backend) Address() string { return b.address }

// Close implements inspect.Inspector. A server that hangs keeps it for a second: pgx would wait a quarter of a minute for its word
// on what was cancelled.
func (b *Backend) Close() {
	hangs := time.AfterFunc(closeTimeout, b.dialled.cut)
	defer hangs.Stop()
	b.pool.Close()
}

// Ping implements inspect.Inspector.
func (b *Backend) Ping(ctx context.Context) (now time.Time, err error) {
	var micros int64
	err = b.pool.QueryRow(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").Scan(&micros)
	if err == nil {
		now = time.UnixMicro(micros)
	}
	return now, b.explain(err)
}

// advice is what to do about an error of a connection; "" if it is of something else.
func (*Backend) advice(err error) string {
	var refused *pgconn.PgError
	switch {
	case backend.CertificateAdvice(err) != "":
		return "the server's certificate is not trusted: check --tls-ca and the host name in --postgres"
	case !errors.As(err, &refused):
		return ""
	case refused.Code == "28P01":
		return "the password is wrong, or the role does not exist: check --postgres-password-file, " +
			"LOCKSCOPE_POSTGRES_PASSWORD and the user of --postgres"
	case strings.HasPrefix(refused.Code, "28"):
		return "let the role connect from this machine (pg_hba.conf), or use another role in --postgres"
	case refused.Code == "3D000":
		return "name the database of the locks in --postgres"
	}
	return ""
}

func (b *Backend) explain(err error) error {
	if advice := b.advice(err); advice != "" {
		return backend.Explain(b, err, backend.Remedies{driver.ClassOf(err): advice})
	}
	return backend.Explain(b, err, backend.Remedies{
		driver.Denied: "let the owner of the schema run pglock.Grant for this role, or use another role in " +
			"--postgres",
		driver.Misconfigured: "check --schema and the database of --postgres",
	})
}

// HeldLocks implements inspect.Inspector.
func (b *Backend) HeldLocks(ctx context.Context) ([]inspect.HeldLock, error) {
	all, err := pglock.ReadHeldLocks(ctx, b.pool, b.schema)
	return all, b.explain(err)
}

// Waiting implements inspect.Inspector. A standby cannot tell: the queue is not replicated.
func (b *Backend) Waiting(ctx context.Context) ([]inspect.Waiting, error) {
	all, err := pglock.ReadWaiting(ctx, b.pool, b.schema)
	return all, b.explain(err)
}

// Resource implements inspect.Inspector.
func (b *Backend) Resource(key string) string {
	for _, p := range b.prefixes {
		if name, ok := strings.CutPrefix(key, p); ok {
			return name
		}
	}
	return key
}
