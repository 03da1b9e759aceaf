# make run, make test: no more is needed but Go, make and the network; the race
# detector also needs a C compiler.

GO ?= go

# The other supported Go release; the go command fetches it by itself.
OTHER_GO ?= go1.27.0
# What cannot be tested here is compiled: nothing in the root module is for one system, and
# some kernels are for arm64.
OTHERS ?= windows/arm64

MODULES = . cow/cowview cow/bolt cow/etcd cow/etcd/chaos memory/mcp bench
KERNEL = memory/vector/internal/kernel
# Tests of what check has vetted already.
TEST = $(GO) test -vet=off
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: run durable replicas test race crash chaos check bench bench-full bars compare mutants cover release-check

# A coding agent's memory: the symbols of your Go installation in eight stores.
run:
	cd bench && $(GO) run .

# A DB in a file: a program writes, is killed, and shows what it has.
durable:
	cd cow/bolt && $(GO) run ./examples/durable

# A DB on three replicas, with three members of etcd, each killed once: nothing is lost.
replicas:
	cd cow/etcd/chaos && $(GO) run ./replicas

test:
	for m in $(MODULES); do (cd $$m && $(TEST) ./...) || exit 1; done
	$(TEST) -race -short ./...
	cd cow/cowview && $(TEST) -race -short ./internal/...
	cd cow/bolt && $(TEST) -race -short ./...
	cd cow/etcd && $(TEST) -race -short .
	cd memory/mcp && $(TEST) -race -short ./...
	cd bench && $(TEST) -race -short ./check ./stores

# What takes longer: the long forms of all tests with the race detector, all tests with
# 32 bits, generated code under the other release, and tests and benchmarks compiled for
# another system.
race:
	for m in $(MODULES); do (cd $$m && $(TEST) -race ./...) || exit 1; done
	GOARCH=386 $(GO) vet ./... && GOARCH=386 $(TEST) ./...
	cd cow/cowview && GOTOOLCHAIN=$(OTHER_GO)+auto $(GO) vet ./... && GOTOOLCHAIN=$(OTHER_GO)+auto $(GO) run $(STATICCHECK) ./...
	for t in $(OTHERS); do GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) vet ./... || exit 1; done
	cd bench && GOOS=windows $(GO) vet ./...

# The long forms of what kills programs, tears files and flips bits: half an hour.
crash:
	cd cow/bolt && $(GO) test -long -timeout 3h .

# More than a hundred faults of etcd members, and of the network before them, and twenty
# thousand commits: a few minutes.
chaos:
	cd cow/etcd/chaos && $(GO) test -run Chaos -long -timeout 1h -v .

check:
	@test -z "$$(gofmt -l .)" || { echo "run gofmt -w on:"; gofmt -l .; exit 1; }
	for m in $(MODULES); do (cd $$m && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...) || exit 1; done
	GOARCH=386 $(GO) build ./... && GOARCH=386 $(TEST) -short ./snapshot/... ./memory/...
	GOTOOLCHAIN=$(OTHER_GO)+auto $(GO) test -short ./...
	cd cow/cowview && GOTOOLCHAIN=$(OTHER_GO)+auto $(GO) test -short .
	cd $(KERNEL) && d=$$(mktemp -d) && cp -R gen $$d && $(GO) -C $$d/gen run . -out ../kernel_amd64.s -stubs ../stubs_amd64.go -pkg kernel && \
		cmp kernel_amd64.s $$d/kernel_amd64.s && cmp stubs_amd64.go $$d/stubs_amd64.go && rm -r $$d
	for t in $(OTHERS); do echo "compile for $$t"; GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) build ./... || exit 1; done

# The stores and workloads that matter most, in less than five minutes; all of them,
# at every size and with every bar. The report is in bench/$(OUT).
OUT ?= out
bench:
	cd bench && $(GO) run . -matrix quick -out $(OUT)

bench-full:
	cd bench && $(GO) run . -matrix full -bars -out $(OUT)

# Every figure that the project promises, beside its peers: about eleven minutes.
bars:
	cd bench && $(GO) run . -bars

# The benchmarks of the working tree against those of another revision.
compare:
	cd bench && $(GO) run ./revisions -base $(BASE)

# Puts known bugs back, one at a time, and demands that a test fails.
mutants:
	cd bench && $(GO) run ./mutants

cover:
	$(GO) test -cover ./snapshot ./cow

# What has to change before all modules can be released at VERSION, or the tags to push.
release-check:
	@$(GO) run bench/release/main.go $(VERSION)
