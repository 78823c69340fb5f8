// embed: a file of the repository within the program. The assembler reads it, with its path from the root of
// the repository; gcc and clang agree on this form.
#ifndef REDRIVE_BASE_EMBED_H
#define REDRIVE_BASE_EMBED_H

// The bytes are from symbol to symbol_end. The NUL behind them is for debuggers only.
#define EMBED(symbol, path)                                                                                  \
    __asm__(".pushsection .rodata\n" #symbol ":\n.incbin \"" path "\"\n" #symbol                             \
            "_end:\n.byte 0\n.popsection\n");                                                                \
    extern const char symbol[] __attribute__((visibility("hidden")));                                        \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))

#endif
