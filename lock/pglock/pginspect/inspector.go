package pginspect

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/pglock"
)

// Inspector is a schema of package pglock.
type Inspector struct {
	pool     *pgxpool.Pool
	dialled  *connections
	schema   string
	address  string
	prefixes []string
}

// Errors of bad input, which never hold its text.
var (
	errBadPostgres = errors.New("--postgres is neither a URL nor key=value pairs, or names files that cannot be read " +
		"(its text is withheld: it may hold a password). Use postgres://user@host:port/database")
	errPlainPostgres = errors.New("a --tls flag is set, but --postgres uses plain text (sslmode=disable, or a socket): " +
		"use sslmode=verify-full")
)

// Config says which database to read, and how.
type Config struct {
	Server   string      // URL, or key=value pairs as psql takes them
	Password string      // beside the URL
	TLS      *tls.Config // nil: as Server says itself
	Schema   string      // empty: the default
	Prefixes []string    // that keys begin with, and resources do not; none: the default
}

// New connects to nothing.
func New(c Config) (*Inspector, error) {
	config, err := pgxpool.ParseConfig(c.Server)
	if err != nil {
		return nil, errBadPostgres // pgx takes passwords out as far as it understands the text
	}
	if c.Password != "" {
		config.ConnConfig.Password = c.Password
	}
	if err := secure(config.ConnConfig, c.TLS); err != nil {
		return nil, err
	}
	config.ConnConfig.ConnectTimeout = inspect.DialTimeout
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler may keep no session
	config.MaxConns, config.MinConns, config.MinIdleConns = 1, 0, 0
	config.ConnConfig.RuntimeParams["application_name"] = "lockscope"
	dialled := &connections{dial: config.ConnConfig.DialFunc}
	config.ConnConfig.DialFunc = dialled.open
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, errBadPostgres
	}
	b := &Inspector{
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
func (*Inspector) System() string { return "postgresql" }

// Address implements inspect.Inspector.
func (b *Inspector) Address() string { return b.address }

// Close implements inspect.Inspector. A server that hangs keeps it for a second: pgx would wait a quarter of a minute for its word
// on what was cancelled.
func (b *Inspector) Close() {
	hangs := time.AfterFunc(closeTimeout, b.dialled.cut)
	defer hangs.Stop()
	b.pool.Close()
}

// Ping implements inspect.Inspector.
func (b *Inspector) Ping(ctx context.Context) (now time.Time, err error) {
	var micros int64
	err = b.pool.QueryRow(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").Scan(&micros)
	if err == nil {
		now = time.UnixMicro(micros)
	}
	return now, b.explain(err)
}

// advice is what to do about an error of a connection; "" if it is of something else.
func (*Inspector) advice(err error) string {
	var refused *pgconn.PgError
	switch {
	case inspect.CertificateAdvice(err) != "":
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

func (b *Inspector) explain(err error) error {
	if advice := b.advice(err); advice != "" {
		return inspect.Explain(b, err, inspect.Remedies{driver.ClassOf(err): advice})
	}
	return inspect.Explain(b, err, inspect.Remedies{
		driver.Denied: "let the owner of the schema run pglock.Grant for this role, or use another role in " +
			"--postgres",
		driver.Misconfigured: "check --schema and the database of --postgres",
	})
}

// HeldLocks implements inspect.Inspector.
func (b *Inspector) HeldLocks(ctx context.Context) ([]inspect.HeldLock, error) {
	all, err := pglock.ReadHeldLocks(ctx, b.pool, b.schema)
	return all, b.explain(err)
}

// Waiting implements inspect.Inspector. A standby cannot tell: the queue is not replicated.
func (b *Inspector) Waiting(ctx context.Context) ([]inspect.Waiting, error) {
	all, err := pglock.ReadWaiting(ctx, b.pool, b.schema)
	return all, b.explain(err)
}

// Resource implements inspect.Inspector.
func (b *Inspector) Resource(key string) string {
	for _, p := range b.prefixes {
		if name, ok := strings.CutPrefix(key, p); ok {
			return name
		}
	}
	return key
}

// Locker makes an engine that takes locks there. The caller closes it before the Inspector. Its keys begin with the longest prefix of the configuration.
func (b *Inspector) Locker(_ context.Context, opts ...lock.Option) (*engine.Engine, error) {
	return pglock.New(b.pool, append(opts[:len(opts):len(opts)], pglock.WithSchema(b.schema),
		lock.WithPrefix(b.prefixes[0]))...)
}
