// Package repair is lockscope repair: a plan first, then the act.
package repair
