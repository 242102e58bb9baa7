package scanner

// ListACL returns the ACL rules that [Scanner.List] and [Scanner.Sweep] need, besides the user's password, keys
// (%R~lock:* or ~lock:*) and "on". Further rules depend on the servers:
//
//   - With several nodes, orphans among them, also %R~lockscope:life.
//   - Before Redis 7 there is no eval_ro: leave out eval_ro and evalsha_ro and add evalsha and eval. Without either,
//     pages are read by plain commands.
//   - A cluster client needs cluster|slots, cluster|nodes and command. Only sweeps need info.
//   - Without hrandfield, which Redis has since 6.2, many readers of a read/write lock whose key never expires are a
//     [report.ForeignType] instead of [report.NoTTL].
//   - From Redis 7.2 on, +client|no-touch keeps a look at a value from counting as use of the key (OBJECT IDLETIME).
//     On older servers it counts.
func ListACL() []string {
	return []string{
		"+client|setname", "+info", "+scan", "+evalsha_ro", "+eval_ro",
		"+pttl", "+type", "+getrange", "+strlen", "+exists", "+hlen", "+memory|usage", "+hgetall",
		"+hrandfield",
		"+cluster|slots", "+cluster|nodes", "+command",
	}
}

// RepairACL returns the ACL rules that [Scanner.Repair] and [PlanRun.Apply] need in addition to [ListACL]. The keys
// must be writable. Where a user may run no scripts, watch, multi and exec replace evalsha and eval. They also serve
// [Scanner.Plan] and [PlanRun.Apply], with object|idletime, for values that a process may reuse.
func RepairACL() []string {
	return []string{"+evalsha", "+eval", "+time", "+hset", "+hdel", "+del", "+pexpire", "+watch", "+multi",
		"+exec", "+object|idletime"}
}
