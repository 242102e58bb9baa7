// Package watchdog has the process that ends a command when lockscope, which should do it, is killed or stopped.
package watchdog
