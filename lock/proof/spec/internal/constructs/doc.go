// Package constructs has the models of what is made of locks: [Permits] of a semaphore, and [Waiters] for them;
// [Election] of a leader; [Sets] of locks; [Shared] of a read/write lock.
package constructs
