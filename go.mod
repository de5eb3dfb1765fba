module github.com/mcpdeck/mcpdeck

go 1.26
