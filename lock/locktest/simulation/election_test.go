package simulation

import (
	"context"
	"errors"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
)

// leadership is an election.Term.
type leadership interface {
	held
	Number() uint64
	Resign(ctx context.Context) error
}

// campaign is election.Campaign, or a defect of it.
type campaign func(ctx context.Context, l lock.Locker, name string, opts ...election.Option) (leadership, error)

func realCampaign(ctx context.Context, l lock.Locker, name string, opts ...election.Option) (leadership, error) {
	term, err := election.Campaign(ctx, l, name, opts...)
	if err != nil {
		return nil, err
	}
	return term, nil
}

// lead campaigns, leads and resigns, as o says. A campaign that failed never leads.
func (h *history) lead(c int, id string, o *op) error {
	if o.run && h.plant.campaign == nil {
		return h.runElection(c, id, o)
	}
	p, ctx, cancel := h.begin(c, id, o)
	defer cancel()
	campaign := h.plant.campaign
	if campaign == nil {
		campaign = realCampaign
	}
	name := resourceName(o.resource)
	term, err := campaign(ctx, witness{h, c}, name, election.TTL(o.ttl))
	if err != nil {
		p.fail(err)
		return err
	}
	b := h.holds(p, term, "", map[string]uint64{name: term.Number()})
	h.use(b, o)
	h.letGo(b, o, term.Resign)
	return nil
}

var errNeverLed = errors.New("nobody led before the call returned")

// runElection leads once with election.Run.
func (h *history) runElection(c int, id string, o *op) error {
	p, ctx, cancel := h.begin(c, id, o)
	defer cancel()
	name, led := resourceName(o.resource), false
	err := election.Run(ctx, witness{h, c}, name, func(_ context.Context, term election.Term) error {
		led = true
		b := h.holds(p, term, "", map[string]uint64{name: term.Number()})
		h.use(b, o)
		h.end(b)
		return nil
	}, election.Once(), election.TTL(o.ttl))
	p.fail(err) // also if it has led: it is over
	if !led {
		return errors.Join(errNeverLed, err)
	}
	return nil
}
