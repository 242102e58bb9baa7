// There is no Go here: this keeps node_modules, where some packages bring Go files,
// out of the ./... of the module above.
module github.com/lockscope/lockscope/dashboards/render

go 1.26
