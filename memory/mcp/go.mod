module github.com/cowstore/cowstore/memory/mcp

go 1.26.0

require (
	github.com/cowstore/cowstore v0.0.0-00010101000000-000000000000
	github.com/cowstore/cowstore/cow/bolt v0.0.0-00010101000000-000000000000
	github.com/modelcontextprotocol/go-sdk v1.8.0
	github.com/stretchr/testify v1.12.1
)

replace (
	github.com/cowstore/cowstore => ../..
	github.com/cowstore/cowstore/cow/bolt => ../../cow/bolt
)
