// Package draw makes Grafana dashboards from short descriptions.
//
// A [Board] has variables, rows and marks; a [Row] has panels, which fill [Full] columns per line. [Tile], [Chart],
// [RatioChart] and [HeatMap] make the usual panels, and methods of [Panel] change them; tables and the rarer kinds are
// written as a Panel. [Step] and [Tint] give colours their meaning, [Processes] and its like are the choices of the
// reader, and links such as [ToResource] lead from board to board. [Board.Render] does the rest.
//
// Expressions use shorthands. Selectors of scraped series: {R} for a resource, {N} for a lock_node, {I} for a process.
// Selectors of recorded series over all processes: {S} for a resource, {M} for a node, {J} for a job. {C} selects only
// the cluster. $JOB and $CLUSTER stand in lists of labels, as in the rules: the same job in two clusters is two jobs.
//
// The package knows Grafana, and the labels that metrics share. What each board shows is in package boards and those
// below it.
package draw
