// Package fencing makes a storage refuse writes of holders that are too late.
//
// A process may be stopped between the moment at which it sees that its lease is valid and its write. Nothing that it
// asks of itself can prevent that. The storage can: it keeps the highest fencing token that it has seen, and refuses
// lower ones.
//
//	tx, err := db.BeginTx(ctx, nil)
//	...
//	if err := fencing.Guard(ctx, tx, lease.Resource(), lease.Fence()); err != nil {
//		return errors.Join(err, tx.Rollback()) // *StaleError: a later lease has written
//	}
//	_, err = tx.ExecContext(ctx, "UPDATE orders SET state = 'paid' WHERE id = 1001")
//	...
//	err = tx.Commit()
//
// Where the data is, and what checks the token there:
//
//	PostgreSQL, SQLite  Guard and Migration
//	MySQL, MariaDB      GuardMySQL and MigrationMySQL
//	Redis               package redisfence: a script that runs only with a good token
//	S3 and the like     UpdateObject: a conditional write of one object
//	another service     SetHeader and FromHeader carry the token there
//
// A reader that holds the lock, and relies on nobody writing afterwards, calls Guard before it reads: until its own
// first write, the holder before it can still write.
package fencing
