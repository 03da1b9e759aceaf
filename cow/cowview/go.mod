module github.com/cowstore/cowstore/cow/cowview

go 1.26.0

require (
	github.com/cowstore/cowstore v0.0.0-20261129153413-56c99e8b17a6
	github.com/stretchr/testify v1.12.1
	golang.org/x/tools v0.51.0
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
)

tool github.com/cowstore/cowstore/cow/cowview
