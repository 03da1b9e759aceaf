module github.com/cowstore/cowstore/cow/bolt

go 1.26.0

require (
	github.com/cowstore/cowstore v0.0.0-20261129153413-56c99e8b17a6
	github.com/fxamacker/cbor/v2 v2.9.6
	github.com/stretchr/testify v1.12.1
	go.etcd.io/bbolt v1.5.0
)

require (
	github.com/benbjohnson/immutable v0.4.3 // indirect
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/tphakala/simd v1.8.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/exp v0.0.0-20250718183923-645b1fa84792 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
