package main

import (
	"fmt"
	"time"
)

// row is one line of the table: one kind of work, done by every peer that can.
type row struct {
	name    string
	work    work
	lockers int // processes, so to speak
	callers int // goroutines, dealt out over the lockers
	hold    time.Duration
	floor   string // the peer that the others are compared with
	measure measure
	unit    unit
}

// allRows are the rows, from top to bottom.
func allRows() []row {
	var rows []row
	for _, nodes := range []int{1, 5} {
		rows = append(rows, pairRow(nodes))
	}
	for _, nodes := range []int{1, 5} {
		for _, callers := range []int{64, 256} {
			rows = append(rows, throughputRow(nodes, callers))
		}
	}
	for _, nodes := range []int{1, 5} {
		for _, lockers := range []int{2, 8, 32} {
			rows = append(rows, handoffRow(nodes, lockers, 0))
		}
		rows = append(rows, handoffRow(nodes, 8, time.Millisecond))
	}
	return append(rows, oneProcessRow(32, 0), oneProcessRow(8, time.Millisecond))
}

// pairRow is one caller who acquires what nobody else wants, and releases it.
func pairRow(nodes int) row {
	return row{
		name: "pair, p50, " + nodesText(nodes), work: work{nodes: nodes},
		lockers: 1, callers: 1, floor: "go-redis", measure: measurePairs, unit: latency,
	}
}

// throughputRow is that by many callers of one process at once, each with a resource of
// its own.
func throughputRow(nodes, callers int) row {
	return row{
		name: fmt.Sprintf("pairs/s, %s, %d callers", nodesText(nodes), callers), work: work{nodes: nodes},
		lockers: 1, callers: callers, floor: "fenced", measure: measureThroughput, unit: costedRate,
	}
}

// handoffRow is processes that want the same resource all the time.
func handoffRow(nodes, lockers int, hold time.Duration) row {
	return row{
		name:    fmt.Sprintf("hand-offs/s, %s, %d lockers, hold %d ms", nodesText(nodes), lockers, hold.Milliseconds()),
		work:    work{nodes: nodes, contended: true},
		lockers: lockers, callers: lockers, hold: hold, floor: "BLPOP", measure: measureHandoffs, unit: fairRate,
	}
}

// oneProcessRow is callers of one process that want the same resource all the time.
func oneProcessRow(callers int, hold time.Duration) row {
	return row{
		name:    fmt.Sprintf("acquisitions/s, 1 node, 1 process, %d callers, hold %d ms", callers, hold.Milliseconds()),
		work:    work{nodes: 1, contended: true, oneProcess: true},
		lockers: 1, callers: callers, hold: hold, floor: "sync.Mutex", measure: measureAcquisitions, unit: fairRate,
	}
}

func nodesText(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// allPeers are the columns, from left to right.
func allPeers() []peer {
	return []peer{
		lockscopePeer(),
		redsyncPeer(), redsyncFailFastPeer(), redsyncTunedPeer(),
		redislockPeer(), redislockTunedPeer(),
		goRedisPeer(), autoPipelinePeer(), fencedPeer(),
		blpopPeer(), messagePeer(), mutexPeer(),
	}
}
