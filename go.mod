module github.com/cowstore/cowstore

go 1.26.0

require (
	github.com/benbjohnson/immutable v0.4.3
	github.com/blevesearch/snowballstem v0.9.0
	github.com/clipperhouse/uax29/v2 v2.7.0
	github.com/stretchr/testify v1.12.1
	github.com/tphakala/simd v1.8.0
	golang.org/x/sys v0.49.0
	golang.org/x/text v0.43.0
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/exp v0.0.0-20250718183923-645b1fa84792 // indirect
)
