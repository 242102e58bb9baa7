package diagnosis

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

const (
	// farOff is an offset that a machine whose clock is kept does not have.
	farOff = time.Second
	// floorReach is how far ahead of a node a client's clock may push its fencing
	// counter; beyond it the nodes' counters differ and acquiring takes a round trip more.
	floorReach = 10 * time.Second
	// driftBound is the error of rate that the validity of a lease allows for.
	driftBound = 0.01
	// driftWorry is more than crystals and NTP account for (50 and 500 ppm).
	driftWorry = 0.001
	// A server that misses at least unfitShare of its calls is unfit for locks. From rareShare on it is worth a
	// warning.
	unfitShare, rareShare = 0.1, 0.01
	missedAdvice          = "check the server for pauses (swapping, a stopped or overloaded machine, SLOWLOG) and " +
		"the network for lost packets"
	// slowScript is how much longer than a ping a script that does nothing may take.
	slowScript = 5
)

func checkClock(f Facts, _ Policy) inspect.Result {
	c := f.Clock
	if c.Samples == 0 {
		return inspect.Warned("the server did not answer TIME", "see the connection and rights checks")
	}
	if c.Offset.Abs()-c.OffsetError > floorReach {
		return inspect.Warned(c.text(),
			"check that NTP runs on both: fencing counters of the nodes differ, which costs each acquire a "+
				"round trip")
	}
	return judgeClock(c)
}

// judgeClock: expiries and tokens are by the server's clock.
func judgeClock(c Clock) inspect.Result {
	if c.Offset.Abs()-c.OffsetError > farOff {
		return inspect.Warned(c.text(),
			"check that NTP runs on both: locks need equal rates, not equal times, but this offset "+
				"suggests neither")
	}
	return inspect.Passed(c.text())
}

func (c Clock) text() string {
	return fmt.Sprintf("%s this machine, ±%s", ahead(c.Offset), short(c.OffsetError))
}

func ahead(d time.Duration) string {
	if d < 0 {
		return short(-d) + " behind"
	}
	return short(d) + " ahead of"
}

func checkDrift(f Facts, _ Policy) inspect.Result { return judgeDrift(f.Clock) }

// judgeDrift is what a clock's rate means for leases.
func judgeDrift(c Clock) inspect.Result {
	if c.Samples < 2 {
		return inspect.Warned("too few samples", "see the connection and rights checks")
	}
	detail := fmt.Sprintf("%+.0f ppm, ±%.0f", c.Drift*1e6, c.DriftError*1e6)
	switch sure := math.Abs(c.Drift) - c.DriftError; {
	case sure > driftBound:
		return inspect.Failed(detail,
			"more than the 1 % that leases allow for, or a clock was stepped: slew clocks (chronyd, ntpd "+
				"-x), never step them")
	case sure > driftWorry:
		return inspect.Warned(detail,
			"more than a healthy clock drifts: check whether NTP corrects a large offset or the virtual "+
				"machine is overloaded")
	case c.DriftError > driftBound:
		return inspect.Warned(detail, "too uncertain to judge: measure longer with --for")
	}
	return inspect.Passed(detail)
}

// checkClocks compares the nodes with each other.
func checkClocks(facts []Facts, _ Policy) []inspect.Result {
	var first, last *Facts
	for i := range facts {
		f := &facts[i]
		if f.Clock.Samples == 0 {
			continue
		}
		if first == nil || f.Clock.Offset < first.Clock.Offset {
			first = f
		}
		if last == nil || f.Clock.Offset > last.Clock.Offset {
			last = f
		}
	}
	if first == last {
		return nil
	}
	spread, doubt := last.Clock.Offset-first.Clock.Offset, last.Clock.OffsetError+first.Clock.OffsetError
	detail := fmt.Sprintf("nodes at most %s apart, ±%s", short(spread), short(doubt))
	if spread-doubt > farOff {
		return []inspect.Result{inspect.Warned(fmt.Sprintf("%s: %s and %s", detail, first.Node, last.Node),
			"check that NTP runs on all of them")}
	}
	return []inspect.Result{inspect.Passed(detail)}
}

func checkLatency(f Facts, p Policy) inspect.Result {
	return judgeLatency(f.Ping, p, "no answer to PING: ", f.orWait("see the connection and rights checks"))
}

// orWait is the advice about a command without an answer.
func (f Facts) orWait(advice string) string {
	if f.Server.Loading {
		return refusals()["LOADING"]
	}
	return advice
}

// judgeLatency is what answers mean for locks; silent and advice are about a server that gave none.
func judgeLatency(l Latency, p Policy, silent, advice string) inspect.Result {
	if l.Answered == 0 {
		return inspect.Failed(silent+ErrorText(l.Err), advice)
	}
	detail := fmt.Sprintf("round trip p50 %s, p99 %s of %d", short(l.P50), short(l.P99), l.Count)
	if least := l.LeastTimeout(); least > 0 {
		detail += fmt.Sprintf(": node timeout %s or more", short(least))
	}
	if l.Missed > 0 {
		detail += fmt.Sprintf("; %d (%.2g %%) not answered within %v", l.Missed, 100*l.missedShare(), p.NodeTimeout)
	}
	if l.Err != nil {
		detail += "; a call failed: " + ErrorText(l.Err)
	}
	// A vote and a fence round must fit into the validity many times over.
	rounds := 2 * l.P99
	switch share := l.missedShare(); {
	case l.P50 > p.NodeTimeout:
		return inspect.Failed(detail,
			fmt.Sprintf("most calls take longer than the node timeout of %v and fail: raise the timeout, "+
				"or move closer", p.NodeTimeout))
	case share >= unfitShare:
		return inspect.Failed(detail, missedAdvice)
	case share >= rareShare, l.Err != nil:
		return inspect.Warned(detail, missedAdvice)
	case timeoutPerP99*l.P99 > p.NodeTimeout:
		return inspect.Warned(detail,
			fmt.Sprintf("1 in 100 calls takes more than half of the node timeout of %v: find what stops the server, "+
				"or raise the timeout", p.NodeTimeout))
	case rounds > p.TTL/10:
		return inspect.Warned(detail,
			fmt.Sprintf("two round trips take more than a tenth of the TTL of %v: raise the TTL, or move closer",
				p.TTL))
	}
	return inspect.Passed(fmt.Sprintf("%s; it is %v, TTL %v", detail, p.NodeTimeout, p.TTL))
}

func checkScripts(f Facts, p Policy) inspect.Result {
	l := f.Script
	if l.Answered == 0 {
		return inspect.Failed("no answer to EVAL: "+ErrorText(l.Err),
			f.orWait("grant +eval +evalsha: every lock operation is a script"))
	}
	detail := fmt.Sprintf("p50 %s, p99 %s", short(l.P50), short(l.P99))
	if f.Ping.Answered == 0 {
		return inspect.Passed(detail)
	}
	detail += "; ping p50 " + short(f.Ping.P50)
	switch {
	case l.P99 > p.NodeTimeout && f.Ping.P99 <= p.NodeTimeout:
		return inspect.Warned(detail,
			"scripts miss the node timeout but pings do not: look in SLOWLOG for what else runs on this server")
	case f.Ping.P50 > 0 && l.P50 > slowScript*f.Ping.P50:
		return inspect.Warned(detail, "an empty script is far slower than a ping: check for a proxy in between")
	}
	return inspect.Passed(detail)
}

func checkRights(f Facts, p Policy) inspect.Result {
	who := "the user"
	if p.ACLUser != "" {
		who = "user " + p.ACLUser
	}
	switch {
	case len(f.Missing) > 0:
		return inspect.Failed(who+" lacks "+strings.Join(f.Missing, " "),
			"grant it with ACL SETUSER; lock/redlock/README.md has the full line")
	case f.Unasked != nil:
		return inspect.Warned("some rights are unchecked: "+f.Unasked.Error(),
			"try again, or as another user (--acl-user needs +acl|dryrun)")
	}
	return inspect.Passed(who + " has every right that locks need")
}

// ErrorText is why there was no answer.
func ErrorText(err error) string {
	if err == nil {
		return "no time left"
	}
	return err.Error()
}

// short writes a duration in three digits or so.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1fms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%dµs", d.Microseconds())
}
