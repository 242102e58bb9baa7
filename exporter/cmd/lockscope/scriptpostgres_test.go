package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

// startPostgres NAME [SETTING...] starts PostgreSQL. NAME is the URL for the role service, which may take locks, NAME_OWNER
// that for the owner, and NAME_ADDR the address.
func startPostgres(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	addPostgres(ts, args[0], cmdtest.Postgres(of(ts), args[1:]...))
	return cmdtest.Outcome{}
}

func addPostgres(ts *testscript.TestScript, name string, s *pgproc.Server) {
	of(ts).systems[name], of(ts).servers[name] = s, s
	ts.Setenv(name, s.URL("service"))
	ts.Setenv(name+"_OWNER", s.URL("postgres"))
	ts.Setenv(name+"_ADDR", fmt.Sprint("127.0.0.1:", s.Port()))
}

// startStandby NAME PRIMARY
func startStandby(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	s, err := system[*pgproc.Server](ts, args[1]).Standby(of(ts).Context())
	ts.Check(err)
	of(ts).Cleanup(func() { cmdtest.Must(of(ts), s.Stop()) })
	addPostgres(ts, args[0], s)
	return cmdtest.Outcome{}
}

// startPooler NAME SERVER MODE CONNECTIONS starts PgBouncer. NAME is its URL.
func startPooler(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	n, err := strconv.Atoi(args[3])
	ts.Check(err)
	b, err := pgproc.StartBouncer(of(ts).Context(), system[*pgproc.Server](ts, args[1]), args[2], n)
	ts.Check(err)
	of(ts).Cleanup(func() { cmdtest.Must(of(ts), b.Stop()) })
	ts.Setenv(args[0], b.URL())
	return cmdtest.Outcome{}
}

// overPooler NAME STATEMENT... runs statements over a pooler in a connection that then ends, and shows the rows.
func overPooler(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	conn, err := pgx.Connect(of(ts).Context(), ts.Getenv(args[0]))
	ts.Check(err)
	defer func() { _ = conn.Close(context.Background()) }()
	return query(ts, conn, strings.Join(args[1:], "; "))
}

// putFile SERVER NAME FILE puts a file of the script into the server's folder, and shows its path.
func putFile(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	path, err := system[*pgproc.Server](ts, args[0]).Put(args[1], []byte(ts.ReadFile(args[2])))
	ts.Check(err)
	return cmdtest.Outcome{Out: path + "\n"}
}

// runSQL NAME STATEMENT... runs statements as the owner, and shows the rows.
func runSQL(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	conn, err := system[*pgproc.Server](ts, args[0]).Connect(of(ts).Context(), "postgres")
	ts.Check(err)
	defer func() { _ = conn.Close(context.Background()) }()
	return query(ts, conn, strings.Join(args[1:], "; "))
}

func query(ts *testscript.TestScript, conn *pgx.Conn, sql string) (o cmdtest.Outcome) {
	results, err := conn.PgConn().Exec(of(ts).Context(), sql).ReadAll()
	for _, r := range results {
		for _, row := range r.Rows {
			for _, value := range row {
				o.Out += string(value) + "\n"
			}
		}
	}
	if err != nil {
		return cmdtest.Outcome{Status: 1, Err: err.Error() + "\n"}
	}
	return o
}

// openSession NAME ROLE APPLICATION STATEMENT... runs statements in a session of its own, which stays until the script ends.
// With & as the last word, nobody waits for the last statement. Without a statement the session has to be there already.
func openSession(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	p, role, name, statements := of(ts), args[1], args[2], args[3:]
	conn := p.sessions[name]
	if conn == nil {
		var err error
		conn, err = pgx.Connect(p.Context(), system[*pgproc.Server](ts, args[0]).URL(role)+"&application_name="+name)
		ts.Check(err)
		p.sessions[name] = conn
		p.Cleanup(func() { _ = conn.Close(context.Background()) })
	}
	if last := len(statements) - 1; statements[last] == "&" {
		ended, sql := make(chan struct{}), statements[last-1]
		go func() { defer close(ended); _, _ = conn.Exec(p.Context(), sql) }()
		p.Cleanup(func() { <-ended })
		statements = statements[:last-1]
	}
	for _, sql := range statements {
		if o := query(ts, conn, sql); o.Status != 0 {
			return o
		}
	}
	return cmdtest.Outcome{}
}
