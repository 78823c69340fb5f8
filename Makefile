# redrive: `make help` lists what can be asked for.

# gcc unless CC was chosen; make's own default is "cc".
ifeq ($(origin CC),default)
CC = gcc
endif
AR ?= ar
PREFIX ?= /usr/local
DESTDIR ?=
# release (default), asan (address and undefined-behaviour sanitizers), tsan, kill (release with crash points for
# tests) or fuzz; each has a build folder of its own.
VARIANT ?= release
OUT = build/$(VARIANT)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# --- what is compiled with what -----------------------------------------------------------------------------------

PKGS = ncursesw libpq rdkafka jansson libpcre2-8 libconfuse liblz4 libmicrohttpd libcurl yaml-0.1
TEST_PKGS = cmocka vterm
PKG_CONFIG ?= pkg-config
PKG_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)
PKG_LIBS ?= $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null)
TEST_LIBS ?= -lcmocka -lvterm
# Asked once, not for every file.
PKG_CFLAGS := $(PKG_CFLAGS)
PKG_LIBS := $(PKG_LIBS)

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
	-Wformat=2 -Wundef -Wvla -Wcast-qual -Wpointer-arith
HARDENING = -fstack-protector-strong -fstack-clash-protection -fPIE
ifneq (,$(filter x86_64 i686,$(shell uname -m)))
HARDENING += -fcf-protection
endif
SANITIZE_asan = -fsanitize=address,undefined -fno-sanitize-recover=undefined
SANITIZE_tsan = -fsanitize=thread
SANITIZE_fuzz = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
CFLAGS_release = -O2 -g -D_FORTIFY_SOURCE=2 $(HARDENING)
CFLAGS_kill = $(CFLAGS_release) -DREDRIVE_KILL_POINTS
CFLAGS_asan = -O1 -g -fno-omit-frame-pointer $(SANITIZE_asan) -DREDRIVE_KILL_POINTS
CFLAGS_tsan = -O1 -g $(SANITIZE_tsan)
CFLAGS_fuzz = -O1 -g -fno-omit-frame-pointer $(SANITIZE_fuzz)
LDFLAGS_release = -pie -Wl,-z,relro,-z,now -Wl,--as-needed
LDFLAGS_kill = $(LDFLAGS_release)
LDFLAGS_asan = $(SANITIZE_asan)
LDFLAGS_tsan = $(SANITIZE_tsan)
LDFLAGS_fuzz = $(SANITIZE_fuzz)
ifdef DEVELOPER
WARNINGS += -Werror
endif

# CFLAGS and LDFLAGS stay the builder's own. Paths in a binary are relative, so that builds can be compared.
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Isrc -I. $(WARNINGS) $(CFLAGS_$(VARIANT)) $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(LDFLAGS_$(VARIANT)) $(LDFLAGS)
# libjq has no .pc file on Debian 12. It brings oniguruma with it, which must not be named here: oniguruma exports a
# regcomp of its own, which librdkafka would get instead of the C library's.
ALL_LIBS = $(PKG_LIBS) -ljq -lpthread -lm

SOURCES := $(shell find src ui -name '*.c' | sort)
OBJECTS = $(SOURCES:%.c=$(OUT)/%.o)
# Files that .incbin puts into the program: what embeds any is built again when one of them changes.
DATA := $(shell find src ui themes keymaps mappings monitoring -type f ! -name '*.[ch]' ! -name '*.def' ! -name '.*')
EMBEDDING := $(shell grep -rlE --include='*.c' 'incbin|EMBED' src ui)

TEST_LAYERS = unit sim screens terminal store attack commands broker crash faults acceptance
TEST_SOURCES := $(foreach layer,$(TEST_LAYERS),$(wildcard tests/$(layer)/test_*.c))
TESTS = $(TEST_SOURCES:%.c=$(OUT)/%)
UNIT_TESTS = $(filter $(OUT)/tests/unit/%,$(TESTS))
TEST_HELPERS := $(filter-out tests/lib/replay.c tests/lib/c11_threads.c,$(wildcard tests/lib/*.c))
# A layer may bring helpers of its own beside its tests; programs are what is called test_*.c.
TEST_HELPERS += $(foreach layer,$(TEST_LAYERS),$(filter-out tests/$(layer)/test_%,$(wildcard tests/$(layer)/*.c)))
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
FUZZERS = $(FUZZ_SOURCES:%.c=$(OUT)/%)
# Programs of one file that demo, bench and crash runs use.
TOOL_SOURCES := $(wildcard tests/demo/*.c tests/tools/*.c tests/bench/*.c)
TOOLS = $(TOOL_SOURCES:%.c=$(OUT)/%)
DEMO_SOURCES := $(wildcard tests/demo/lib/*.c)
TEST_OBJECTS = $(patsubst %.c,$(OUT)/%.o,$(TEST_SOURCES) $(TEST_HELPERS) $(FUZZ_SOURCES) $(TOOL_SOURCES) $(DEMO_SOURCES) tests/lib/replay.c tests/lib/c11_threads.c)

# Everything but main, for tests to link.
LIBRARY = $(OUT)/libredrive.a
TEST_LIBRARY = $(OUT)/libtests.a

ifeq ($(V),)
Q = @
SAY = @printf '  %-6s %s\n'
MAKEFLAGS += --no-print-directory
else
SAY = @:
endif

# --- the program ----------------------------------------------------------------------------------------------------

all: build/redrive ## build the program, build/redrive; plain make does the same
#: CC=clang              use another compiler than gcc
#: DEVELOPER=1           treat warnings as errors
#: V=1                   show commands

# Always the release, whatever VARIANT other goals of the same call are built with.
build/redrive: FORCE
	$(Q)$(MAKE) VARIANT=release place

# Never half there, and not touched when it is the same: it may be running.
place: $(OUT)/redrive
	$(Q)cmp -s $< build/redrive || { cp -f $< build/redrive.new && mv -f build/redrive.new build/redrive; }

$(OUT)/redrive: $(OUT)/src/main.o $(LIBRARY)
	$(SAY) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LIBS)

$(LIBRARY): $(filter-out $(OUT)/src/main.o,$(OBJECTS))
	$(SAY) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/%.o: %.c $(OUT)/.flags | $(OUT)/.libraries
	$(SAY) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(EMBEDDING:%.c=$(OUT)/%.o): $(DATA)

# Another compiler or other flags build everything again.
$(OUT)/.flags: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(CC) $(ALL_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS)' > $@

# Commands know where `make install` puts themes and keymaps; another PREFIX builds only them again.
$(filter $(OUT)/src/commands/%,$(OBJECTS)): ALL_CFLAGS += -DREDRIVE_SHARE='"$(PREFIX)/share/redrive"'
$(filter $(OUT)/src/commands/%,$(OBJECTS)): $(OUT)/.prefix
$(OUT)/.prefix: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' > $@

# A missing library is one sentence, not a page of compiler messages.
$(OUT)/.libraries:
	$(Q)mkdir -p $(@D)
	$(Q)test -n '$(PKG_LIBS)' && echo '#include <jq.h>' | $(CC) $(CPPFLAGS) $(CFLAGS) -E - >/dev/null 2>&1 || { tests/lib/packages.sh check build; exit 1; }
	$(Q)touch $@

SHARE = $(DESTDIR)$(PREFIX)/share
MANUAL = $(wildcard src/commands/manual/*)
MAN_FOLDERS = $(SHARE)/man/man1 $(SHARE)/man/man5 $(SHARE)/man/man7
MAN_PAGES = $(foreach page,$(notdir $(MANUAL)),$(SHARE)/man/man$(subst .,,$(suffix $(page)))/$(page))
COMPLETIONS = bash-completion/completions/redrive zsh/site-functions/_redrive fish/vendor_completions.d/redrive.fish

install: build/redrive ## install the program, its manual pages and completions
#: PREFIX=/usr/local     where to
#: DESTDIR=              put below this folder, for packages
	install -D -m 755 build/redrive $(DESTDIR)$(PREFIX)/bin/redrive
	install -d $(SHARE)/redrive/themes $(SHARE)/redrive/keymaps $(SHARE)/redrive/monitoring $(MAN_FOLDERS) $(dir $(COMPLETIONS:%=$(SHARE)/%))
	install -m 644 $(wildcard themes/*) $(SHARE)/redrive/themes
	install -m 644 $(wildcard keymaps/*) $(SHARE)/redrive/keymaps
	install -m 644 $(wildcard monitoring/*) $(SHARE)/redrive/monitoring
	set -e; for unit in redrive redrive-work redrive-watch redrive-ingest; do \
		sed 's|/usr/local/bin|$(PREFIX)/bin|' src/commands/$$unit.service > $(SHARE)/redrive/$$unit.service; done
	set -e; for page in $(MAN_PAGES); do name=$$(basename $$page); build/redrive --generate $${name%.*} > $$page; done
	build/redrive --generate bash > $(SHARE)/$(word 1,$(COMPLETIONS))
	build/redrive --generate zsh > $(SHARE)/$(word 2,$(COMPLETIONS))
	build/redrive --generate fish > $(SHARE)/$(word 3,$(COMPLETIONS))

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/redrive $(MAN_PAGES) $(COMPLETIONS:%=$(SHARE)/%)
	rm -rf $(SHARE)/redrive

demo: ## open the screen on a private database and broker with a backlog
#: KAFKA=real            run a real Kafka instead of an embedded broker
#: ROWS=20000            pending events to begin with
#: ARRIVALS=2            new events a second
#: SHELL_ONLY=1          open a shell instead, in which psql and redrive reach the demo
	$(Q)tests/lib/packages.sh install build demo $(if $(filter real,$(KAFKA)),kafka)
	$(Q)$(MAKE) -j$(JOBS) build/redrive demo-tools
	$(Q)KAFKA=$(KAFKA) ROWS=$(ROWS) tests/demo/run

demo-tools: $(filter $(OUT)/tests/demo/%,$(TOOLS))

# --- tests ----------------------------------------------------------------------------------------------------------

test: ## run every layer of tests, on servers of their own
#: LAYERS="unit store"   run only these layers (tests/README.md lists them)
#: LANES=1               run one program after another; else one for each processor, beside each other
#: VERBOSE=1 KEEP=1      show all output; keep outputs and logs
	$(Q)tests/lib/packages.sh install build test kafka
	$(Q)$(MAKE) -j$(JOBS) build/redrive
	$(Q)$(MAKE) -k -j$(JOBS) VARIANT=asan test-programs || true
	$(Q)tests/run build/asan $(LAYERS)

test-unit: ## run the unit tests alone: seconds, no server
	$(Q)$(MAKE) -k -j$(JOBS) VARIANT=asan unit-programs || true
	$(Q)tests/run build/asan unit

attack: ## call every function of the schema as every role, with forged and foreign arguments
	$(Q)tests/lib/packages.sh install build test
	$(Q)$(MAKE) -k -j$(JOBS) VARIANT=asan attack-programs || true
	$(Q)tests/run build/asan attack

all-objects: $(OBJECTS) $(TEST_OBJECTS)

test-programs: unit-programs $(TESTS) $(FUZZERS) $(TOOLS) $(OUT)/redrive
unit-programs: $(UNIT_TESTS)
attack-programs: $(filter $(OUT)/tests/attack/%,$(TESTS)) $(OUT)/redrive

$(TESTS): $(OUT)/%: $(OUT)/%.o $(TEST_LIBRARY) $(LIBRARY)
	$(SAY) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ -Wl,--as-needed $(TEST_LIBS) $(ALL_LIBS) -lutil

ifeq ($(VARIANT),tsan)
$(TESTS): $(OUT)/tests/lib/c11_threads.o
endif

$(TEST_LIBRARY): $(TEST_HELPERS:%.c=$(OUT)/%.o)
	$(SAY) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The bench looks at the screen through the terminal of the tests.
$(filter $(OUT)/tests/bench/%,$(TOOLS)): TOOL_LIBS = $(TEST_LIBS)
$(filter $(OUT)/tests/bench/%,$(TOOLS)): $(TEST_LIBRARY)
$(OUT)/tests/tools/sim: $(TEST_LIBRARY)
$(TOOLS): $(OUT)/%: $(OUT)/%.o $(OUT)/libdemo.a $(LIBRARY)
	$(SAY) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(filter %libtests.a,$^) $(filter-out $< %libtests.a,$^) -Wl,--as-needed $(TOOL_LIBS) \
		$(ALL_LIBS) -lutil

$(OUT)/libdemo.a: $(DEMO_SOURCES:%.c=$(OUT)/%.o)
	$(SAY) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Each fuzz target is a program twice: here it replays its corpus; with VARIANT=fuzz libFuzzer drives it.
ifeq ($(VARIANT),fuzz)
$(FUZZERS): LDFLAGS_fuzz = -fsanitize=fuzzer,address,undefined
$(FUZZERS): $(OUT)/%: $(OUT)/%.o $(LIBRARY)
else
$(FUZZERS): $(OUT)/%: $(OUT)/%.o $(OUT)/tests/lib/replay.o $(LIBRARY)
endif
	$(SAY) LINK $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBRARY) $(ALL_LIBS)
$(OUT)/tests/fuzz/fuzz_json_edit: $(patsubst %,$(OUT)/tests/lib/%.o,json_model json_tree jansson)
$(OUT)/tests/fuzz/fuzz_envelope: $(OUT)/tests/lib/envelope_case.o

FUZZ_SECONDS ?= 30
fuzz: ## run libFuzzer on each fuzz target; needs clang
#: FUZZ_SECONDS=30       seconds a target
	$(Q)tests/lib/packages.sh install build lint
	$(Q)$(MAKE) -j$(JOBS) VARIANT=fuzz CC=clang fuzz-programs
	$(Q)tests/lib/fuzz.sh build/fuzz $(FUZZ_SECONDS)

fuzz-programs: $(FUZZERS)

# With threads at the real servers.
TSAN_BROKER_TESTS = test_ingest
tsan: ## run the unit tests, and those of redrive ingest, under the thread sanitizer
	$(Q)tests/lib/packages.sh install build test kafka
	$(Q)$(MAKE) -k -j$(JOBS) VARIANT=tsan unit-programs $(TSAN_BROKER_TESTS:%=build/tsan/tests/broker/%) || true
	$(Q)tests/run build/tsan unit
	$(Q)PROGRAMS="$(TSAN_BROKER_TESTS)" tests/run build/tsan broker

sim: ## simulate schedules of the publisher between two ends in memory
#: SCHEDULES=1000000     how many
#: SEED=1                the first one
#: BROKEN=no-nonce       leave a rule of the protocol out, which must be noticed
	$(Q)$(MAKE) -j$(JOBS) VARIANT=kill build/kill/tests/tools/sim
	$(Q)build/kill/tests/tools/sim schedules=$(SCHEDULES) seed=$(SEED) broken=$(BROKEN)

crash: ## kill, freeze and disconnect workers, PostgreSQL and Kafka
#: MINUTES=10            how long
#: MODE=all              one of the modes in tests/crash/loop
#: SEED=1                the same harm again
	$(Q)tests/lib/packages.sh install build test kafka
	$(Q)$(MAKE) -j$(JOBS) VARIANT=kill crash-programs
	$(Q)tests/crash/loop minutes=$(MINUTES) mode=$(or $(MODE),all) seed=$(SEED) broken=$(BROKEN)

faults: ## take PostgreSQL, Kafka and the disk away for long: what is said, what continues
#: SECONDS=600           how long each fault lasts
#: FAULT='*is_away'      a pattern of tests/faults
	$(Q)tests/lib/packages.sh install build test kafka
	$(Q)$(MAKE) -j$(JOBS) VARIANT=asan faults-programs
	$(Q)REDRIVE_FAULT='$(FAULT)' REDRIVE_FAULT_SECONDS=$(or $(SECONDS),600) TEST_LIMIT=7200 tests/run build/asan faults

faults-programs: $(OUT)/redrive $(OUT)/tests/tools/proxy $(filter $(OUT)/tests/faults/%,$(TESTS))

crash-programs: $(OUT)/redrive $(filter $(OUT)/tests/tools/%,$(TOOLS))

bench: ## measure, as ratios within one run
#: ROWS="100000 1000000" sizes of the backlog
#: PARTS="recovery stall" only some of publish, discard, correct, recovery, memory, stall
	$(Q)tests/lib/packages.sh install build test kafka bench
	$(Q)$(MAKE) -j$(JOBS) build/redrive
	$(Q)$(MAKE) -j$(JOBS) bench-tools
	$(Q)ROWS="$(ROWS)" tests/bench/run $(PARTS)

bench-tools: $(filter $(OUT)/tests/demo/% $(OUT)/tests/bench/% $(OUT)/tests/tools/topic,$(TOOLS))

screenshots: ## make screenshots/ with the scripts of the screen tests
	$(Q)$(MAKE) -j$(JOBS) build/redrive
	$(Q)tests/screens/run --screenshots

# --- the machine checks -----------------------------------------------------------------------------------------------

C_FILES := $(shell find src ui tests -name '*.[ch]' | sort)

format: ## format every C file
	$(Q)clang-format -i $(C_FILES)

format-check: ## fail where `make format` would change something
	$(Q)clang-format --dry-run --Werror $(C_FILES)

layers: ## fail where a file includes a room that its room may not see
	$(Q)tests/lib/layers.sh

lint: banned ## run clang-tidy and cppcheck, look for banned calls
	$(Q)$(MAKE) -k -j$(JOBS) VARIANT=lint CC=clang tidy
	$(Q)find $(or $(REDRIVE_CACHE),build/cache)/tidy -type f -mtime +30 -delete 2>/dev/null || true
	$(Q)mkdir -p build/lint/cppcheck
	$(SAY) CHECK cppcheck
	$(Q)cppcheck --quiet --std=c11 --language=c -j$(JOBS) --cppcheck-build-dir=build/lint/cppcheck -Isrc -I. -D_GNU_SOURCE \
		--enable=warning,performance,portability --inline-suppr --suppressions-list=tests/lib/cppcheck.supp \
		--error-exitcode=1 src ui tests

tidy: $(patsubst %.c,$(OUT)/%.tidy,$(SOURCES) $(TEST_HELPERS) $(TEST_SOURCES) $(FUZZ_SOURCES) $(TOOL_SOURCES) $(DEMO_SOURCES))

# The object brings the headers in: a file is looked at again when anything it includes has changed.
$(OUT)/%.tidy: %.c $(OUT)/%.o .clang-tidy
	$(SAY) TIDY $<
	$(Q)tests/lib/tidy.sh $< $(OUT)/$*.d $(ALL_CFLAGS)
	$(Q)touch $@

BANNED = strcpy|strcat|sprintf|vsprintf|strtok|atoi|gets|system|popen
banned:
	$(SAY) CHECK 'banned calls'
	$(Q)! grep -nE '(^|[^[:alnum:]_>.])($(BANNED))[[:space:]]*\(' $(C_FILES) | grep -vE ':[0-9]+:[[:space:]]*(//|\*)' | grep . || \
		{ echo 'These calls are banned: see CONTRIBUTING.md.' >&2; exit 1; }

packages: ## install missing Debian packages
	$(Q)tests/lib/packages.sh install build test kafka demo bench lint

clean: ## remove everything that was built
	$(Q)rm -rf build

help: ## print this list
	@awk -F':.*## ' '/^# --- / { gsub(/^# --- | -+$$/, ""); title = toupper(substr($$0, 1, 1)) substr($$0, 2) } \
	    /^[a-z-]+:.*## / { if (title) printf "%s%s\n", shown++ ? "\n" : "", title; title = ""; printf "  make %-14s %s\n", $$1, $$2 } \
	    /^#: / { printf "      %s\n", substr($$0, 4) }' $(firstword $(MAKEFILE_LIST))

-include $(OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d)

FORCE:
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: all all-objects place install uninstall demo demo-tools test test-unit attack attack-programs test-programs unit-programs fuzz fuzz-programs tsan sim crash crash-programs faults faults-programs bench bench-tools \
	screenshots format format-check layers lint tidy banned packages clean help FORCE
