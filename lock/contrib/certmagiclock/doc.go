// Package certmagiclock makes servers of github.com/caddyserver/certmagic in several processes obtain each certificate
// in one of them.
//
//	config.Storage = certmagiclock.NewStorage(config.Storage, locker)
//
// Certificates stay where they are: all processes use the same storage. Only its locks change.
//
// # What certmagic does not do
//
// It checks no fencing token when it stores a certificate. A process that was paused for longer than the lease may
// store an older certificate over a newer one. Both are valid, and the CA has issued one too many.
//
// It does not learn during an attempt that the lock is lost. It asks before each attempt to obtain or renew a
// certificate, and [Storage.RenewLockLease] then takes the lock again, or fails the attempt if another process has it.
// At other times, as while it cleans the storage, only Unlock says so. certmagic logs that error.
//
// One context bounds the wait and the work there. If it ends, certmagic still undoes what it has begun. A lease that
// hangs on that context ends before this, and another process begins. The leases of this package end with Unlock.
package certmagiclock
