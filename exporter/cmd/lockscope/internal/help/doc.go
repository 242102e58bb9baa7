// Package help writes the help of lockscope: one screen for each command, a page with every flag of a command
// (lockscope help flags COMMAND), the topics (lockscope help TOPIC), and man pages.
package help
