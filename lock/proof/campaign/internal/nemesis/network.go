//go:build linux

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/netfault"
)

// onLinks is for everything that is done to the network.
func (n *Nemesis) onLinks(ctx context.Context, f Fault, d *Done) error {
	var proxies []*netfault.Proxy
	for _, l := range f.Links {
		proxies = append(proxies, n.site.Links[l.Client][l.Node])
		if name := n.site.Nodes[l.Node].Name; !slices.Contains(d.Nodes, name) {
			d.Nodes = append(d.Nodes, name)
		}
		if !slices.Contains(d.Clients, l.Client) {
			d.Clients = append(d.Clients, l.Client)
		}
	}
	each := func(do func(*netfault.Proxy)) {
		for _, p := range proxies {
			do(p)
		}
	}
	switch f.Kind {
	case Twice:
		return n.twice(ctx, f, d, proxies)
	case Overtaken:
		return n.overtaken(ctx, f, d, proxies)
	case Delay:
		by := time.Duration(f.Amount) * time.Millisecond
		d.Detail = fmt.Sprintf("%v each way", by)
		each(func(p *netfault.Proxy) { p.SetDelay(by) })
		defer each(func(p *netfault.Proxy) { p.SetDelay(0) })
	case Late:
		each((*netfault.Proxy).Hold)
		defer each((*netfault.Proxy).Flow)
	case Refused:
		each(func(p *netfault.Proxy) { p.Refuse(true); p.CutAll() })
		defer each(func(p *netfault.Proxy) { p.Refuse(false) })
	default:
		drop := map[Kind]func(*netfault.Proxy, bool){
			Loss: (*netfault.Proxy).Drop, LossToNode: (*netfault.Proxy).DropToServer,
			LossToClient: (*netfault.Proxy).DropToClient,
		}[f.Kind]
		each(func(p *netfault.Proxy) { drop(p, true) })
		// There is a hole in each stream: nothing that comes after it could be read.
		defer each(func(p *netfault.Proxy) { p.CutAll(); p.Drop(false) })
	}
	sleep(ctx, f.For)
	return nil
}

const replays = 4

// twice says commands again while others go on, and the last of them once more, late.
func (n *Nemesis) twice(ctx context.Context, f Fault, d *Done, proxies []*netfault.Proxy) error {
	for _, p := range proxies {
		p.Record(true)
		defer p.Record(false)
	}
	said := 0
	for range replays {
		if !sleep(ctx, f.For/replays) {
			break
		}
		for _, p := range proxies {
			brief, cancel := context.WithTimeout(ctx, time.Second)
			count, err := p.Replay(brief, int(f.Amount))
			cancel()
			if err != nil && ctx.Err() == nil {
				continue // the node is down: nothing was said
			}
			said += count
		}
	}
	d.Detail = fmt.Sprintf("%d batches", said)
	return nil
}

// overtaken holds one connection of each link for a while, and then another.
func (n *Nemesis) overtaken(ctx context.Context, f Fault, d *Done, proxies []*netfault.Proxy) error {
	const pieces = 4
	held := 0
	for range pieces {
		for _, p := range proxies {
			if p.HoldOne() {
				held++
			}
		}
		ok := sleep(ctx, f.For/pieces)
		for _, p := range proxies {
			p.Flow()
		}
		if !ok {
			break
		}
	}
	d.Detail = fmt.Sprintf("%d connections", held)
	if held == 0 {
		return errors.Join(errSkipped, errors.New("no connection has said anything"))
	}
	return nil
}
