package pglock_test

import (
	"context"
	"log"

	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

// startPostgres starts a server with a role "service" that owns nothing, for the examples.
func startPostgres(ctx context.Context) (ownerURL, serviceURL string, stop func()) {
	server, err := pgproc.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	stop = func() { _ = server.Stop() }
	conn, err := server.Connect(ctx, "postgres")
	if err == nil {
		_, err = conn.Exec(ctx, "CREATE ROLE service LOGIN")
		_ = conn.Close(ctx)
	}
	if err != nil {
		stop()
		log.Fatal(err)
	}
	return server.URL("postgres"), server.URL("service"), stop
}
