# redrive: `make help` lists what can be asked for.

CC ?= gcc
PREFIX ?= /usr/local
DESTDIR ?=
# release (default), asan (address and undefined-behaviour sanitizers), tsan, or kill (release with crash points for tests)
VARIANT ?= release
OUT = build/$(VARIANT)

PKGS = ncursesw libpq rdkafka jansson libpcre2-8 libconfuse
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
	-Wformat=2 -Wundef -Wvla -Wcast-qual -Wpointer-arith
HARDENING = -fstack-protector-strong -fPIE -fcf-protection
CFLAGS_release = -O2 -g -D_FORTIFY_SOURCE=2 $(HARDENING)
CFLAGS_kill = $(CFLAGS_release) -DREDRIVE_KILL_POINTS
CFLAGS_asan = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -DREDRIVE_KILL_POINTS
CFLAGS_tsan = -O1 -g -fsanitize=thread
LDFLAGS_release = -pie -Wl,-z,relro,-z,now
LDFLAGS_kill = $(LDFLAGS_release)
LDFLAGS_asan = -fsanitize=address,undefined
LDFLAGS_tsan = -fsanitize=thread
ifdef DEVELOPER
WARNINGS += -Werror
endif

ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Isrc -I. $(WARNINGS) $(CFLAGS_$(VARIANT)) $(PKG_CFLAGS) $(CFLAGS)
ALL_LIBS = $(PKG_LIBS) -lpthread -lm

SOURCES := $(shell find src ui -name '*.c' | sort)
OBJECTS = $(SOURCES:%.c=$(OUT)/%.o)
# Everything but main, for tests to link.
LIBRARY = $(OUT)/libredrive.a

ifeq ($(V),)
Q = @
SAY = @printf '  %-6s %s\n'
else
SAY = @:
endif

all: build/redrive ## the program, at build/redrive

build/redrive: $(OUT)/redrive
	$(Q)cp -f $< $@

$(OUT)/redrive: $(OUT)/src/main.o $(LIBRARY)
	$(SAY) LINK $@
	$(Q)$(CC) $(LDFLAGS_$(VARIANT)) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)

$(LIBRARY): $(filter-out $(OUT)/src/main.o,$(OBJECTS))
	$(SAY) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^

$(OUT)/%.o: %.c
	$(SAY) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

-include $(OBJECTS:.o=.d)

clean: ## remove everything that was built
	$(Q)rm -rf build

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: all clean help
