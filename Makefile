# make run, make test: no more is needed but Go, make and the network. The race detector also
# needs a C compiler: without one the tests run without it.

GO ?= go

# The other supported Go release; the go command fetches it by itself.
OTHER_GO ?= go1.27.0

MODULES = . cow/cowview cow/bolt cow/etcd cow/etcd/chaos cow/cowtest/check cow/metrics/prometheus cow/metrics/otel memory/mcp bench
WAITING = cow/etcd/chaos cow/bolt cow/etcd
HEAVY = cow/metrics/prometheus cow/metrics/otel
KERNEL = memory/vector/internal/kernel
LINT = $(CURDIR)/.ci/lint/lint

# lint and test share one configuration, so that each package is compiled once: without inlining
# and what debuggers need, which takes two thirds of the time. It is one flag, since the tests that
# run the go command hand it on. More memory than GOGC=200 takes longer to get than it spares.
RACE := $(filter 1,$(shell $(GO) env CGO_ENABLED))
BUILD = $(if $(RACE),-race -gcflags='github.com/cowstore/cowstore/...=-l -dwarf=false')
TEST = GOGC=200 $(GO) test -vet=off $(BUILD) -short -timeout 20m
LONG = $(GO) test -vet=off -timeout 2h

.PHONY: run durable replicas demo docs test test-of-the-root test-of-what-waits test-of-the-rest check format pages browser reference kernels lint lint-heavy other 386 arm64 full long race 386-all systems crash chaos bench bars compare mutants cover pin pins installable release

# A coding agent's memory: the symbols of your Go installation in eight stores.
run:
	cd bench && $(GO) run .

# A DB in a file: a program writes, is killed, and shows what it has.
durable:
	cd cow/bolt && $(GO) run ./examples/durable

# A DB on three replicas, with three members of etcd, each killed once: nothing is lost.
replicas:
	cd cow/etcd/chaos && $(GO) run ./replicas

# A DB that changes all the time, and pages about it in a browser.
demo:
	$(GO) run ./memory/examples/demo

# The pages of pkg.go.dev about this checkout: http://localhost:6060/github.com/cowstore/cowstore
docs:
	$(GO) run golang.org/x/pkgsite/cmd/pkgsite@v0.6.0 -list=false -http localhost:6060 $(filter-out cow/etcd/chaos cow/cowtest/check bench,$(MODULES))

# All tests in their short forms, with the race detector: the root's, those of the modules that
# wait for disks and members of etcd, and those of the others, beside each other.
test:
	@$(if $(RACE),,echo "There is no C compiler: the tests run without the race detector." >&2)
	@$(MAKE) -j3 test-of-the-root test-of-what-waits test-of-the-rest

test-of-the-root:
	$(TEST) ./... ./.ci/mutants ./.ci/rooms

test-of-what-waits:
	for m in $(WAITING); do (cd $$m && $(TEST) ./...) || exit 1; done

test-of-the-rest:
	for m in $(filter-out . $(WAITING),$(MODULES)); do (cd $$m && $(TEST) ./...) || exit 1; done

lint-heavy: lint
	for m in $(HEAVY); do (cd $$m && GOGC=200 $(GO) vet $(BUILD) -vettool=$(LINT) ./...) || exit 1; done

# What else has to hold before a change is proposed.
check: format pins lint other 386 arm64

format:
	@test -z "$$(gofmt -l .)" || { echo "run gofmt -w on:"; gofmt -l .; exit 1; }

# Workflows by actionlint, prose by vale: their builds take minutes.
pages:
	.ci/actions
	.ci/prose -q

# A walk through the pages of the demo in Chromium, and a look at each kind of page: narrow and
# wide, light and dark, by mouse and by keyboard.
browser:
	GO=$(GO) .ci/browser/run

# The nine tools of memory/mcp answer random calls as those of the reference server do, which npm
# installs for it: make reference SEEDS='4 5 6' CALLS=500
REFERENCE = @modelcontextprotocol/server-memory@2026.8.31
reference:
	d=$$(mktemp -d) && trap "rm -rf $$d" EXIT && npm install --prefix $$d --ignore-scripts --no-audit --no-fund --loglevel=error $(REFERENCE) && \
		cd memory/mcp && $(GO) test -vet=off -count=1 -v -run TheReferenceServer . -reference $$d/node_modules/.bin/mcp-server-memory \
		-seeds '$(or $(SEEDS),1 2 3)' -calls $(or $(CALLS),2000)

# The kernels are what their generator writes.
kernels:
	cd $(KERNEL) && d=$$(mktemp -d) && cp -R gen $$d && $(GO) -C $$d/gen run . -out ../kernel_amd64.s -stubs ../stubs_amd64.go -pkg kernel && \
		cmp kernel_amd64.s $$d/kernel_amd64.s && cmp stubs_amd64.go $$d/stubs_amd64.go && rm -r $$d

# The analyzers of go vet and staticcheck, which look at all that a module requires too: at that
# of the heavy ones in full. The other release builds the analyzers: its standard library is
# compiled for other anyway.
lint:
	cd .ci/lint && GOTOOLCHAIN=$(OTHER_GO)+auto $(GO) build -o $(LINT) .
	for m in $(filter-out $(HEAVY),$(MODULES)); do (cd $$m && GOGC=200 $(GO) vet $(BUILD) -vettool=$(LINT) ./...) || exit 1; done
	$(GO) vet $(BUILD) -vettool=$(LINT) ./.ci/mutants ./.ci/rooms

# The clone and the core under the other release of Go, without the race detector and with
# inlining, and so without an allocation too many; all of it is in systems.
other:
	GOTOOLCHAIN=$(OTHER_GO)+auto GOGC=200 $(GO) test -vet=off -short ./snapshot/clone ./cow ./memory/value

# What depends on the size of a word, where this machine runs programs of 32 bits.
P386 = ./snapshot/clone ./memory/vector
386:
	@if GOARCH=386 $(GO) run .ci/hello.go 2>/dev/null; then GOARCH=386 $(GO) test -vet=off -short $(P386); \
		else GOARCH=386 $(GO) vet $(P386) && echo "386: compiled and vetted, not run: this machine runs no programs of 32 bits"; fi

# Some kernels are for arm64: they are compiled. All of it is vetted in systems.
arm64:
	GOARCH=arm64 $(GO) build ./$(KERNEL)

# What takes hours: before a release. The parts go by themselves too.
full: check lint-heavy pages browser reference kernels installable test long race 386-all systems crash chaos mutants

# The long forms of all tests.
long:
	for m in $(MODULES); do (cd $$m && $(LONG) ./...) || exit 1; done

# And 300,000 steps of memory's model: a quarter of them with each of four seeds.
race:
	for m in $(MODULES); do (cd $$m && $(LONG) -race ./...) || exit 1; done
	$(LONG) -race -run '^TestModel$$' ./memory -steps 75000

386-all:
	GOARCH=386 $(GO) vet ./...
	@if GOARCH=386 $(GO) run .ci/hello.go 2>/dev/null; then GOARCH=386 $(LONG) ./...; \
		else echo "386: compiled and vetted, not run: this machine runs no programs of 32 bits"; fi

# Everything under the other release, and what other systems have of their own.
systems:
	for m in . cow/cowview cow/bolt memory/mcp; do (cd $$m && GOTOOLCHAIN=$(OTHER_GO)+auto $(GO) test -short ./...) || exit 1; done
	for t in windows/arm64 darwin/arm64; do for m in . cow/bolt memory/mcp bench; do \
		(cd $$m && GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) vet ./...) || exit 1; done; done

# The long forms of what kills programs, tears files and flips bits: half an hour.
crash:
	cd cow/bolt && $(GO) test -long -timeout 3h .

# More than a hundred faults of etcd members, and of the network before them, and twenty
# thousand commits: a few minutes.
chaos:
	cd cow/etcd/chaos && $(GO) test -run Chaos -long -timeout 1h -v .

# Rounds of benchmarks, and benchstat's table of them, a column a store:
# make bench BENCH='Store/workload=docs' COUNT=6
SOME = Store/workload=(docs|ycsb-b|stream|scan)/size=(all|230B)/store=(views|cowstore|shared|rwmutex-copy|rwmutex|syncmap)$$
OUT ?= $(CURDIR)/bench/out.txt
bench:
	bench/rounds.sh $(OUT) '$(or $(BENCH),$(SOME))' '$(or $(COUNT),6)' '$(or $(BENCHTIME),300ms)'
	cd bench && $(GO) tool benchstat -col /store -row /workload,/size $(OUT)

# Every figure that the project promises, beside its peers: a quarter of an hour a round, or more.
bars:
	bench/rounds.sh $(OUT) . '$(or $(COUNT),5)' '$(or $(BENCHTIME),300ms)' '^Benchmark(Store|Memory)$$'
	cd bench && $(GO) run ./report $(OUT)

# The benchmarks of the working tree against those of another revision.
compare:
	BASE='$(BASE)' PKG='$(PKG)' BENCH='$(BENCH)' COUNT='$(COUNT)' BENCHTIME='$(BENCHTIME)' bench/compare.sh

# Puts known bugs back, one at a time, and demands that a test fails.
mutants:
	$(GO) run ./.ci/mutants

cover:
	$(GO) test -cover ./snapshot ./cow

# The nested modules require each other, and the root, as they are in HEAD: the last commit
# of a change in which one needs what another has just got.
pin:
	.ci/pin

# Each of those versions is in the history.
pins:
	.ci/pins

# What the READMEs tell strangers to install can be installed, from HEAD.
installable: pins
	.ci/installable

# The commands that release all modules at VERSION. The modules require each other at that
# version, so it is a commit of its own, and all tags lie on it.
release:
	@echo ".ci/pin $(VERSION) && git commit -am 'all modules: $(VERSION)'"
	@for m in $(MODULES); do echo "git tag $${m#.}$$([ $$m = . ] || echo /)$(VERSION)"; done
	@echo "git push origin HEAD --tags"
