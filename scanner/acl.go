package scanner

// ListACL returns the rules by which an ACL user may do all that [Scanner.List] and
// [Scanner.Sweep] do, besides its password, its keys (%R~lock:* or ~lock:*) and "on".
// Where several nodes are looked at, orphans among them, it reads %R~lockscope:life, too.
// Servers before Redis 7 have no eval_ro: leave it and evalsha_ro out, and add
// evalsha and eval. Without either, pages are read by plain commands.
// A cluster client needs cluster|slots, cluster|nodes and command as well, and INFO is needed by
// sweeps only.
// From Redis 7.2 on +client|no-touch keeps a look at a value from counting as use of the
// key (OBJECT IDLETIME). Older servers have no such command, and on them it does.
func ListACL() []string {
	return []string{
		"+client|setname", "+info", "+scan", "+evalsha_ro", "+eval_ro",
		"+pttl", "+type", "+getrange", "+strlen", "+exists", "+hlen", "+memory|usage", "+hgetall",
		"+cluster|slots", "+cluster|nodes", "+command",
	}
}

// RepairACL returns the rules that [Scanner.Repair] and [PlanRun.Apply] need on top of [ListACL]. Its
// keys must be writable. Where a user may run no scripts, watch, multi and exec take
// the place of evalsha and eval; they are in the list for that, and with object|idletime
// for what [PlanRun.Apply] does about values that a process keeps.
func RepairACL() []string {
	return []string{"+evalsha", "+eval", "+hkeys", "+del", "+pexpire", "+watch", "+unwatch", "+multi", "+exec",
		"+object|idletime"}
}
