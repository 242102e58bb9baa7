// Pictures that the READMEs show. There is no Go here: this keeps them out of the module above, which people download.
module github.com/lockscope/lockscope/pictures

go 1.26
