package screen

// helpLines are the keys and the words of the table.
func helpLines() (lines []line) {
	for _, text := range []string{
		"Keys",
		"  up, down, j, k   select a lock        enter   its waiters        esc   back",
		"  pgup, pgdn       a page at a time     home, end   first and last",
		"  /   filter by name, holder or waiter; esc clears it",
		"  s   sort: callers x wait, longest wait, callers, name",
		"  p   pause        r   refresh now        ?   this page        q   quit",
		"",
		"Nodes",
		"  up           answers and may vote       quarantined   may have forgotten locks",
		"  barred       answers and may not vote   down          does not answer",
		"",
		"Locks that somebody waits for",
		"  WAITING        calls that wait            LONGEST   the longest of these waits",
		"  CLASS          why: holder, network, no_quorum, quarantined, backing_off",
		"  HELD           by the holder, so long     TTL       until it expires unless renewed",
		"  RATE           leases that ended a second, and HELD P99: from pages, - without",
		"  WAITS FOR      what the holder waits for, what the holder of that waits for, ...",
		"  name?          holds it if nodes that do not answer have the lock, too",
		"  ~              the row is stale: its nodes did not answer in time",
		"",
		"A process is shown once it has waited for a tenth of a second.",
		"",
		"any key: back",
	} {
		lines = append(lines, line{text, plain})
	}
	lines[0].style, lines[7].style, lines[11].style = bold, bold, bold
	return lines
}
