package bugs

const (
	contrib  = "./lock/contrib/"
	clientGo = contrib + "clientgolock"
	river    = contrib + "riverlock"
)

// contribMutants are bugs in what leads or works under a lock for another library.
func contribMutants() []Mutant { return append(clientGoMutants(), riverMutants()...) }

func clientGoMutants() []Mutant {
	const file = "lock/contrib/clientgolock/clientgolock.go"
	return []Mutant{
		{
			Bug: "client-go: the lease hangs on the context of the call that acquired it", Why: "no leader is renewed",
			File:   file,
			Old:    "lock.AcquireDetached(ctx, l.locker, l.name,",
			New:    "l.locker.Acquire(ctx, l.name,",
			Killer: by(clientGo, "TestLock"),
		},
		{
			Bug: "client-go: the lease is renewed by itself", Why: "a leader that hangs leads forever",
			File:   file,
			Old:    "lock.NoWait(), lock.NoRenew(),",
			New:    "lock.NoWait(),",
			Killer: by(clientGo, "TestLock"),
		},
		{
			Bug: "client-go: a term ends after an hour", Why: "each leader stops once an hour",
			File:   file,
			Old:    "\t\t\tlock.MaxHold(lock.Unlimited), lock.TTL(",
			New:    "\t\t\tlock.TTL(",
			Killer: by(clientGo, "TestElection"),
		},
		{
			Bug: "client-go: a lost term is reported as one that leads", Why: "client-go does not stop leading",
			File:   file,
			Old:    "cause := context.Cause(lease.Context()); cause != nil {",
			New:    "cause := context.Cause(lease.Context()); false && cause != nil {",
			Killer: by(clientGo, "TestLock"),
		},
		{
			Bug: "client-go: a term is not over when client-go has stopped leading", Why: "a candidate never leads again",
			File:   file,
			Old:    "if event == stopped {",
			New:    "if false && event == stopped {",
			Killer: by(clientGo, "TestLock"),
		},
		{
			Bug: "client-go: the work of a leader has the context of client-go", Why: "two lead while a renewal hangs",
			File:   file,
			Old:    "\t\tfn(ctx)\n",
			New:    "\t\t_ = ctx\n\t\tfn(leading)\n",
			Killer: by(clientGo, "TestRenewalHangs/Leading"),
		},
	}
}

func riverMutants() []Mutant {
	const file = "lock/contrib/riverlock/riverlock.go"
	return []Mutant{
		{
			Bug: "River: the lease hangs on the context of the job", Why: "another worker begins before a cancelled one ends",
			File:   file,
			Old:    "lock.Do(ctx, detached{locker}, resource,",
			New:    "lock.Do(ctx, locker, resource,",
			Killer: by(river, "TestWorkerOutlivesContext"),
		},
		{
			Bug: "River: the worker has the context of the job", Why: "it does not learn that its lease is lost",
			File:   file,
			Old:    "return work(working)",
			New:    "_ = working\n\t\t\treturn work(ctx)",
			Killer: by(river, "TestContext").hangs(),
		},
		{
			Bug: "River: a job whose lock is held fails", Why: "it is discarded after 25 attempts",
			File:   file,
			Old:    "return errors.Join(held, err)",
			New:    "return err",
			Killer: by(river, "TestHeld"),
		},
		{
			Bug:    "River: a worker that fails with ErrHeld is taken for a job whose lock is held",
			Why:    "its failures do not count",
			File:   file,
			Old:    "if !ran && (",
			New:    "if _ = ran; (",
			Killer: by(river, "TestHeld"),
		},
		{
			Bug: "River: a job without a key is locked", Why: "it fails, for its resource has no name",
			File:   file,
			Old:    `if resource == "" {`,
			New:    `if false {`,
			Killer: by(river, "TestHeld"),
		},
		{
			Bug: "River: the key does not depend on the arguments", Why: "jobs of different orders exclude each other",
			File:   file,
			Old:    "sha256.Sum256(job.EncodedArgs)",
			New:    "sha256.Sum256(nil)",
			Killer: by(river, "TestKey"),
		},
	}
}
