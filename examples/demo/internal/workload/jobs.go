package workload

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// job is something a service does under a lock.
type job struct {
	resource  string
	take      Taking
	weight    int
	hold, odd time.Duration // held for hold plus a random part of odd
}

// Profile describes a service.
type Profile struct {
	Instance string
	Workers  int
	pause    time.Duration // between two jobs, at most
	jobs     []job
}

// Profiles is the workload: one order everybody wants, and calmer resources.
func Profiles() []Profile {
	const ms = time.Millisecond
	order := job{resource: Contended, weight: 6, hold: 1 * ms, odd: 7 * ms}
	report := job{resource: "report:daily", weight: 2, hold: 15 * ms, odd: 25 * ms}
	stock42 := job{resource: "stock:42", weight: 4, hold: 2 * ms, odd: 8 * ms}
	stock43 := job{resource: "stock:43", weight: 2, hold: 2 * ms, odd: 8 * ms}
	mail := job{resource: "mail:welcome", weight: 3, hold: 5 * ms, odd: 15 * ms}
	return []Profile{
		{Instance: "checkout-1", Workers: 3, pause: 10 * ms, jobs: []job{
			order.by(chargeOrder), stock42.by(reserveStock), stock43.by(reserveStock)}},
		{Instance: "invoices-1", Workers: 2, pause: 20 * ms, jobs: []job{
			order.by(invoiceOrder), report.by(writeReport), mail.by(sendInvoice)}},
		{Instance: "stock-sync-1", Workers: 3, pause: 15 * ms, jobs: []job{
			stock42.by(countStock), stock43.by(countStock), report.by(addStockToReport)}},
		{Instance: "mailer-1", Workers: 2, pause: 20 * ms, jobs: []job{
			order.by(confirmOrder), mail.by(sendWelcome)}},
	}
}

// Contended is the resource that most workers want.
const Contended = "order:1001"

// Taking acquires a resource. Each job has a function and a line of its own, because
// profiles name the function that waits, and lock.WithCallSites the line that holds.
type Taking func(context.Context, lock.Locker, string) (lock.Lease, error)

func (j job) by(take Taking) job {
	j.take = take
	return j
}

func chargeOrder(ctx context.Context, l lock.Locker, order string) (lock.Lease, error) {
	return l.Acquire(ctx, order)
}

func invoiceOrder(ctx context.Context, l lock.Locker, order string) (lock.Lease, error) {
	return l.Acquire(ctx, order)
}

func confirmOrder(ctx context.Context, l lock.Locker, order string) (lock.Lease, error) {
	return l.Acquire(ctx, order)
}

func reserveStock(ctx context.Context, l lock.Locker, item string) (lock.Lease, error) {
	return l.Acquire(ctx, item)
}

func countStock(ctx context.Context, l lock.Locker, item string) (lock.Lease, error) {
	return l.Acquire(ctx, item)
}

func writeReport(ctx context.Context, l lock.Locker, report string) (lock.Lease, error) {
	return l.Acquire(ctx, report)
}

func addStockToReport(ctx context.Context, l lock.Locker, report string) (lock.Lease, error) {
	return l.Acquire(ctx, report)
}

func sendInvoice(ctx context.Context, l lock.Locker, mail string) (lock.Lease, error) {
	return l.Acquire(ctx, mail)
}

func sendWelcome(ctx context.Context, l lock.Locker, mail string) (lock.Lease, error) {
	return l.Acquire(ctx, mail)
}

func HoldForFault(ctx context.Context, l lock.Locker, resource string) (lock.Lease, error) {
	return l.Acquire(ctx, resource)
}
