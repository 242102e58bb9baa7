// Package ui is what all commands share: flags and their environment variables, help, output as a table or as JSON,
// metrics of a command that ends, progress, and exit statuses.
package ui
