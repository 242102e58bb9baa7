// Package ui is what all commands share: common flags, their environment variables, help, output as a table or as JSON,
// metrics of a command that ends, progress, errors in the terms of the command line, and exit statuses. It knows no
// command.
package ui
