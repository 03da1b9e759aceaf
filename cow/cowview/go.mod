module github.com/cowstore/cowstore/cow/cowview

go 1.26.0

require github.com/cowstore/cowstore v0.0.0

require (
	github.com/stretchr/testify v1.12.1 // indirect
	golang.org/x/tools v0.51.0 // indirect
)

replace github.com/cowstore/cowstore => ../..
