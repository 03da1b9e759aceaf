module github.com/cowstore/cowstore/memory/mcp

go 1.26.0

require (
	github.com/cowstore/cowstore v0.0.0-00010101000000-000000000000
	github.com/cowstore/cowstore/cow/bolt v0.0.0-00010101000000-000000000000
	github.com/modelcontextprotocol/go-sdk v1.8.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/fxamacker/cbor/v2 v2.9.6 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.45.0 // indirect
)

replace (
	github.com/cowstore/cowstore => ../..
	github.com/cowstore/cowstore/cow/bolt => ../../cow/bolt
)
