// Package fencing makes storage refuse late writes of former holders.
//
// A process may be paused after it sees that its lease is valid and before it writes. It cannot prevent that by itself.
// The storage can: it keeps the highest fencing token that it has seen, and refuses lower ones.
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
// If you read under the lock, call Guard first: until your first guarded write, the previous holder can still write.
package fencing
