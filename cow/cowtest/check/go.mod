module github.com/cowstore/cowstore/cow/cowtest/check

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/cowstore/cowstore v0.0.0-20261129153413-56c99e8b17a6
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/benbjohnson/immutable v0.4.3 // indirect
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/tphakala/simd v1.8.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/exp v0.0.0-20250718183923-645b1fa84792 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
